import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MemoryEngine } from '../../src/accounts/limits/engine.ts'
import { hashOf } from '../../src/config/hash.ts'
import { RequestMemory } from '../../src/gateway/request-memory.ts'
import { UsageRecorder } from '../../src/gateway/usage-recorder.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { KEY } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import { pause, until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'
import { UPSTREAMS } from '../clients/upstreams/index.ts'
import { Client, type Event } from '../sockets/client.ts'

/*
 * A model of a responses socket: whatever a caller sends in whatever order, each turn has exactly one end, turns end in
 * their order, every other frame has exactly one answer, and nothing of the connection is kept once it is closed.
 */

const { closing, open } = opener()
const chat = UPSTREAMS['chat']!

type Kind = 'ok' | 'big' | 'refused' | 'broken' | 'cut' | 'slow' | 'stored' | 'unknown' | 'invalid' | 'next'
type Action =
  | { readonly do: 'turn'; readonly kind: Kind; readonly lane: string | undefined; readonly pieces: number }
  | { readonly do: 'garbage'; readonly text: string | Buffer; readonly code: string }
  | { readonly do: 'processed' | 'ping' | 'release' | 'wait' }
type Ending = 'close' | 'terminate' | 'answered'

const KINDS: readonly Kind[] = ['ok', 'big', 'refused', 'broken', 'cut', 'slow', 'stored', 'unknown', 'invalid', 'next']
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('turn' as const),
      kind: fc.constantFrom(...KINDS),
      lane: fc.constantFrom(undefined, 'a', 'b"\\'),
      pieces: fc.constantFrom(1, 1, 3),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      { do: 'garbage' as const, text: 'x', code: 'invalid_json' },
      { do: 'garbage' as const, text: '[]', code: 'invalid_json' },
      { do: 'garbage' as const, text: '{"type":"session.update"}', code: 'unknown_event' },
      { do: 'garbage' as const, text: Buffer.from('x'), code: 'invalid_frame' },
      { do: 'garbage' as const, text: '{"type":"response.steer"}', code: 'invalid_input' },
      { do: 'garbage' as const, text: '{"type":"response.create","background":true}', code: 'unsupported_parameter' },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom('processed', 'ping', 'release', 'wait').map(what => ({ do: what }) as Action),
  },
)

let rows: UsageRow[]
let engine: MemoryEngine | undefined
let held = 0

beforeEach(() => {
  rows = []
  held = 0
  vi.spyOn(UsageRecorder.prototype, 'take').mockImplementation(row => void rows.push(row))
  const { step } = MemoryEngine.prototype
  vi.spyOn(MemoryEngine.prototype, 'step').mockImplementation(function (this: MemoryEngine, ...args) {
    engine = this
    return step.apply(this, args)
  })
  const { open: hold } = RequestMemory.prototype
  vi.spyOn(RequestMemory.prototype, 'open').mockImplementation(function (this: RequestMemory, ...args) {
    const memory = hold.apply(this, args)
    if (memory === undefined) return memory
    held++
    const { release } = memory
    let isReleased = false
    memory.release = () => {
      if (!isReleased) held--
      isReleased = true
      release.call(memory)
    }
    return memory
  })
})
afterEach(() => vi.restoreAllMocks())

const waiting = new Set<() => void>()
const release = (): void => {
  for (const go of waiting) go()
  waiting.clear()
}

/** Answers by the word that a turn's input is. */
const script: Script = (response, { text }) => {
  const { messages } = JSON.parse(text)
  const { content } = messages.at(-1)
  const word = typeof content === 'string' ? content : content[0].text
  const frames = chat.frames({ text: `Said ${word}.` })
  if (word === 'refused') return response.writeHead(400).end('{"error":{"message":"No.","type":"x"}}')
  if (word === 'broken') return response.writeHead(500).end('{"error":{"message":"Broken.","type":"x"}}')
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (word === 'cut') {
    response.write(frames.slice(0, 2).join(''))
    return setTimeout(() => response.destroy(), 5)
  }
  if (word !== 'slow') return response.end(frames.join(''))
  response.write(frames[0]!)
  const go = (): void => void response.end(frames.slice(1).join(''))
  waiting.add(go)
  return response.on('close', () => waiting.delete(go))
}

const ENDS = new Set(['response.completed', 'response.failed', 'response.incomplete'])
const GARBAGE = new Set([
  ...['invalid_json', 'unknown_event', 'invalid_frame', 'invalid_input', 'unsupported_parameter'],
])
const codeOf = ({ error }: Event): string | undefined => error?.code

/** Returns true if an event ends a turn. */
const endsTurn = (event: Event): boolean =>
  ENDS.has(event.type) || (event.type === 'error' && !GARBAGE.has(codeOf(event)!))

/** Ends by kind of turn. `next` continues the last completed one, or begins anew. */
const END_OF: { readonly [K in Kind]: RegExp } = {
  ok: /^response\.completed$/,
  big: /^response\.completed$/,
  slow: /^response\.completed$/,
  stored: /^response\.completed$/,
  next: /^(response\.completed|error)$/,
  refused: /^(error|response\.failed)$/,
  broken: /^(error|response\.failed)$/,
  cut: /^(error|response\.failed)$/,
  unknown: /^error$/,
  invalid: /^error$/,
}

function bodyOf(kind: Kind, lane: string | undefined, last: string | undefined): string {
  const body = { type: 'response.create', model: 'm', store: false, ...(lane !== undefined && { stream_id: lane }) }
  if (kind === 'invalid') return JSON.stringify({ ...body, input: 7 })
  if (kind === 'unknown') return JSON.stringify({ ...body, input: 'ok', previous_response_id: 'resp_unknown' })
  if (kind === 'stored') return JSON.stringify({ ...body, input: 'ok', generate: false })
  if (kind === 'big') return JSON.stringify({ ...body, input: 'ok', instructions: 'x'.repeat(100_000) })
  if (kind === 'next') return JSON.stringify({ ...body, input: 'ok', ...(last && { previous_response_id: last }) })
  return JSON.stringify({ ...body, input: kind })
}

function sendPieces({ socket }: Client, text: string, pieces: number): void {
  const size = Math.ceil(text.length / pieces)
  for (let at = 0; at < pieces; at++) socket.send(text.slice(at * size, (at + 1) * size), { fin: at === pieces - 1 })
}

test('each turn has one end in its order, other frames have one answer, and nothing is kept', {
  timeout: 120_000,
}, async () => {
  const { testServer } = await open(script, { group: { concurrent: 3, budget: { day: 1e6 } } })
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 12 }),
      fc.constantFrom<Ending>('answered', 'answered', 'close', 'terminate'),
      async (actions, ending) => {
        rows = []
        waiting.clear()
        const client = await Client.open(testServer.server.address)
        closing.push(() => client.socket.terminate())
        const turns: { readonly kind: Kind; readonly lane: string | undefined }[] = []
        const garbage: string[] = []
        for (const one of actions) {
          if (one.do === 'turn') {
            const last = client.events.findLast(({ type }) => type === 'response.completed')?.response.id
            sendPieces(client, bodyOf(one.kind, one.lane, last), one.pieces)
            turns.push(one)
          } else if (one.do === 'garbage') {
            client.send(one.text)
            garbage.push(one.code)
          } else if (one.do === 'processed') client.send('{"type":"response.processed"}')
          else if (one.do === 'ping') client.socket.ping()
          else if (one.do === 'release') release()
          else await pause(10)
        }
        const ends = () => client.events.filter(endsTurn)
        if (ending === 'answered') {
          await until(() => {
            release()
            return ends().length >= turns.length
          })
          await pause(5)
          expect(ends().map(({ stream_id }) => stream_id)).toEqual(turns.map(({ lane }) => lane))
          for (const [index, end] of ends().entries())
            expect([turns[index]!.kind, end.type]).toEqual([
              turns[index]!.kind,
              expect.stringMatching(END_OF[turns[index]!.kind]),
            ])
          const answers = client.events.flatMap(event => (GARBAGE.has(codeOf(event)!) ? [codeOf(event)] : []))
          expect(answers).toEqual(garbage)
          expectGrammar(client.events)
          expect(rows).toHaveLength(turns.length)
          await client.close()
        } else if (ending === 'close') await client.close()
        else client.socket.terminate()
        await until(() => waiting.size === 0)
        await until(() => held === 0)
        await until(() => rows.every(({ duration }) => duration >= 0))
        expect(rows.length).toBeLessThanOrEqual(turns.length)
        await pause(5)
        // All slots of the key are free again.
        const asks = await Promise.all(
          Array.from({ length: 3 }, () => testServer.ask('/v1/responses', { model: 'm', input: 'ok', store: false })),
        )
        expect(asks.map(({ status }) => status)).toEqual([200, 200, 200])
      },
    ),
    { numRuns: Number(process.env['RUNS'] ?? 60) },
  )
  expect(engine!.spent(hashOf(KEY).slice(0, 32), { day: 1, month: undefined })?.day ?? 0).toBe(0)
})

/** Checks that the events of a turn are together, each begins once, and numbers rise. */
function expectGrammar(events: readonly Event[]): void {
  let running: string | undefined
  let number = -1
  for (const event of events) {
    if (GARBAGE.has(codeOf(event)!)) continue
    if (event.type === 'response.created') {
      expect(running).toBeUndefined()
      running = event.response.id
      number = -1
    }
    if (event.type !== 'error') {
      expect(event.sequence_number).toBeGreaterThan(number)
      number = event.sequence_number
    }
    if (ENDS.has(event.type)) {
      expect(event.response.id).toBe(running)
      running = undefined
    } else if (event.type === 'error') running = undefined
  }
}
