import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { GatewayError } from '../../../src/canonical/error.ts'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { PCM_24K } from '../../../src/canonical/voice-session.ts'
import { workOf } from '../../../src/canonical/work.ts'
import { AudioPath } from '../../../src/voice/audio-path.ts'
import { EventBuffer } from '../../../src/voice/event-buffer.ts'
import { ClientReader, eventIdOf } from '../../../src/voice/formats/realtime/client-reader.ts'
import { ServerWriter } from '../../../src/voice/formats/realtime/server-writer.ts'
import { HIGH_WATER_MARK } from '../../../src/voice/limits.ts'
import { TranslatedSession } from '../../../src/voice/translated-session.ts'
import { openCascade, openConverter } from '../../../src/voice/upstreams.ts'
import { RUNS } from '../../laws/runs.ts'
import { Mirror } from '../mirror.ts'
import { FakeRecord, FakeSide } from '../sides.ts'
import { quiet, voice } from './voice.ts'

/*
 * A model of a caller's session with a cascade: frames of the caller, steps of the three requests, limits, slow readers
 * and ends in any order. Whatever happens, a strict client accepts each frame, every response and item ends, audio is
 * whole, a strict upstream accepts each history, and nothing runs after the end.
 */

const AT = { candidate: 0, part: 0 } as const

/** Behaviour of the models at the next request of their kind. */
type Behaviour = 'answers' | 'calls' | 'calls twice' | 'fails' | 'fails late' | 'says nothing' | 'talks and calls'

type Action =
  | { readonly frame: JsonObject }
  | { readonly say: 'voice' | 'quiet' | 'odd' }
  | { readonly steps: number }
  | { readonly next: Behaviour }
  | { readonly limited: boolean }
  | { readonly slow: boolean }
  | { readonly answer: 'first' | 'last' }
  | { readonly about: 'delete' | 'retrieve' | 'truncate' }

const create = (response?: JsonObject): JsonObject => ({ type: 'response.create', ...(response && { response }) })
const text = (words: string): JsonObject => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: words }] },
})
const update = (session: JsonObject): JsonObject => ({
  type: 'session.update',
  session: { type: 'realtime', ...session },
})
const detection = (value: JsonObject | null): JsonObject => update({ audio: { input: { turn_detection: value } } })
const DETACHED = { conversation: 'none', output_modalities: ['text'], metadata: { topic: 'side' } }

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .constantFrom(
        ...[create(), create(), text('Hello there.'), { type: 'response.cancel' }, create(DETACHED)],
        create({ ...DETACHED, output_modalities: ['audio'] }),
        create({ input: [], instructions: 'Greet.' }),
        ...[{ type: 'input_audio_buffer.commit' }, { type: 'input_audio_buffer.clear' }],
        detection(null),
        detection({ type: 'server_vad' }),
        detection({ type: 'server_vad', create_response: false }),
        detection({ type: 'server_vad', interrupt_response: false }),
        update({ audio: { input: { transcription: { model: 'ears' } } } }),
        update({ output_modalities: ['text'] }),
        update({ output_modalities: ['audio'] }),
        { type: 'nonsense' },
      )
      .map(frame => ({ frame })),
  },
  { weight: 6, arbitrary: fc.constantFrom('voice' as const, 'quiet' as const, 'odd' as const).map(say => ({ say })) },
  { weight: 14, arbitrary: fc.constantFrom(1, 2, 5, 20, 60).map(steps => ({ steps })) },
  {
    weight: 6,
    arbitrary: fc
      .constantFrom<Behaviour>(
        'answers',
        'calls',
        'calls twice',
        'fails',
        'fails late',
        'says nothing',
        'talks and calls',
      )
      .map(next => ({ next })),
  },
  { weight: 2, arbitrary: fc.boolean().map(limited => ({ limited })) },
  { weight: 2, arbitrary: fc.boolean().map(slow => ({ slow })) },
  { weight: 5, arbitrary: fc.constantFrom('first' as const, 'last' as const).map(answer => ({ answer })) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('delete' as const, 'retrieve' as const, 'truncate' as const).map(about => ({ about })),
  },
)

const LIMITED: readonly Action[] = [{ limited: true }, { say: 'voice' }, { say: 'quiet' }]
const PENDING_CALL: readonly Action[] = [
  ...([{ next: 'calls twice' }, { frame: text('Find it.') }, { frame: create() }, { steps: 60 }] as const),
  ...([{ answer: 'first' }, { frame: create() }, { steps: 60 }, { answer: 'first' }, { frame: create() }] as const),
]
const TWO_AT_ONCE: readonly Action[] = [
  { frame: create({ ...DETACHED, output_modalities: ['audio'] }) },
  { frame: text('Hello there.') },
  { frame: create() },
]

const format = fc.constantFrom<JsonObject>({ type: 'audio/pcm', rate: 24_000 }, { type: 'audio/pcmu' })
type Ending = 'stop' | 'finish' | 'refuse' | 'terminate' | 'leave'
const end = fc.constantFrom<Ending>('stop', 'finish', 'refuse', 'terminate', 'leave')

const VOICE = Buffer.from(voice(0.6))
const QUIET = Buffer.from(quiet(0.9))

/** The models of a cascade, which advance one event at a time. */
class Models {
  readonly requests: CanonicalRequest[] = []
  readonly spoken: number[] = []
  running = 0
  next: Behaviour = 'answers'
  private calls = 0
  private readonly waiting: (() => void)[] = []

  readonly run = (request: CanonicalRequest, signal: AbortSignal): AsyncIterable<CanonicalEvent> =>
    this.play(request, signal)

  /** Lets every request take one more step. */
  async step(): Promise<void> {
    for (const wake of this.waiting.splice(0)) wake()
    await settled()
  }

  get isIdle(): boolean {
    return this.running === 0
  }

  private async *play(request: CanonicalRequest, signal: AbortSignal): AsyncGenerator<CanonicalEvent> {
    this.requests.push(request)
    this.running++
    try {
      for (const event of this.eventsFor(request)) {
        await new Promise<void>(resolve => {
          this.waiting.push(resolve)
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
        if (signal.aborted) return
        if (event === FAIL) throw new GatewayError({ kind: 'upstream-failed', message: 'No.' })
        yield event as CanonicalEvent
      }
    } finally {
      this.running--
    }
  }

  private eventsFor(request: CanonicalRequest): readonly (CanonicalEvent | typeof FAIL)[] {
    const work = workOf(request)
    if (work === 'transcription') return whole({ type: 'text', text: '' }, ['Hello ', 'you.'])
    if (work === 'speech') {
      const audio = Buffer.alloc(4800, 1)
      const source = { type: 'base64', mediaType: 'audio/pcm', data: '' } as const
      // Pieces of whole base64 groups need not be whole samples.
      return whole({ type: 'media', kind: 'audio', source }, [
        audio.toString('base64', 0, 2403),
        audio.toString('base64', 2403),
      ])
    }
    const { next } = this
    this.next = 'answers'
    if (next === 'fails') return [FAIL]
    if (next === 'fails late') return [...whole({ type: 'text', text: '' }, ['I was about to say. ']).slice(0, 3), FAIL]
    if (next === 'says nothing') return whole({ type: 'text', text: '' }, [])
    const events: CanonicalEvent[] = [{ type: 'result-start' }]
    let part = 0
    if (next === 'answers' || next === 'talks and calls') {
      const at = { candidate: 0, part: part++ }
      events.push({ type: 'part-start', at, part: { type: 'text', text: '' } })
      for (const append of ['I am fine, thanks. ', 'And you, how are you today? ', 'Well.'])
        events.push({ type: 'part-delta', at, append })
      events.push({ type: 'part-end', at })
    }
    const count = next === 'calls twice' ? 2 : next === 'answers' ? 0 : 1
    for (let index = 0; index < count; index++) {
      const at = { candidate: 0, part: part++ }
      const call = { type: 'tool-call', id: `call_${++this.calls}`, name: 'find', arguments: '' } as const
      events.push({ type: 'part-start', at, part: call })
      for (const append of ['{"a"', ':1}']) events.push({ type: 'part-delta', at, append })
      events.push({ type: 'part-end', at })
    }
    events.push({ type: 'candidate-end', candidate: 0, finish: { reason: count > 0 ? 'tool-calls' : 'stop' } })
    events.push({ type: 'usage', usage: { input: 10, output: 5 } }, { type: 'result-end' })
    return events
  }
}

const FAIL = 'fail'

const whole = (
  part: Extract<CanonicalEvent, { readonly type: 'part-start' }>['part'],
  pieces: readonly string[],
): CanonicalEvent[] => [
  { type: 'result-start' },
  { type: 'part-start', at: AT, part },
  ...pieces.map(append => ({ type: 'part-delta' as const, at: AT, append })),
  { type: 'part-end', at: AT },
  { type: 'candidate-end', candidate: 0, finish: { reason: 'stop' } },
  { type: 'result-end' },
]

/** Resolves when all promises that can go on have done so. */
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

async function open(wire: JsonObject) {
  const [caller, record, models, mirror] = [new FakeSide(), new FakeRecord(), new Models(), new Mirror()]
  caller.onFrame = frame => void mirror.take(frame)
  let ids = 0
  const newId = (prefix: string): string => `${prefix}_${++ids}`
  const buffer = new EventBuffer()
  const upstream = await openCascade({
    ...{ model: 'chat', run: models.run, listener: buffer, newId },
    models: { transcription: 'ears', conversation: 'chat', speech: 'mouth' },
    settings: { input: { format: PCM_24K }, output: { format: PCM_24K } },
  })
  const audio = await AudioPath.open({
    ...{ caller: { input: PCM_24K, output: PCM_24K }, upstream: upstream.audio, open: openConverter },
  })
  const reader = new ClientReader(PCM_24K)
  const writer = new ServerWriter({ naming: 'ga', newId })
  const options: object = {
    ...{ caller, upstream, audio, record, onLoss: 'show', model: 'chat' },
    models: { publicName: (name: string) => name },
    format: {
      read: (frame: string) => reader.read(frame),
      eventId: eventIdOf,
      write: (event: Parameters<typeof writer.write>[0]) => writer.write(event),
    },
    publicError: <T>(value: T) => value,
    scrub: <T>(value: T) => value,
    limits: { idle: 1e6, lifetime: 1e6, buffer: 1e9 },
  }
  const session = new TranslatedSession(options as ConstructorParameters<typeof TranslatedSession>[0])
  session.start()
  buffer.deliver(session)
  await settled()
  const send = (frame: JsonObject): void => caller.listener!.frame(Buffer.from(JSON.stringify(frame)), false)
  send(update({ audio: { input: { format: wire }, output: { format: wire } } }))
  await settled()
  return { caller, record, models, mirror, session, send }
}

const append = (audio: Uint8Array): JsonObject => ({
  type: 'input_audio_buffer.append',
  audio: Buffer.from(audio).toString('base64'),
})

test('a session with a cascade, whatever happens in whatever order', async () => {
  const unhandled: unknown[] = []
  const onUnhandled = (thrown: unknown): void => void unhandled.push(thrown)
  process.on('unhandledRejection', onUnhandled)
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 30, size: 'max' }), format, end, async (actions, wire, ending) => {
      const { caller, record, models, mirror, session, send } = await open(wire)
      const isPhone = wire['type'] === 'audio/pcmu'
      const answered = new Set<string>()
      const sound = (what: 'voice' | 'quiet' | 'odd'): void => {
        const audio = what === 'voice' ? VOICE : what === 'quiet' ? QUIET : QUIET.subarray(0, 33)
        const bytes = what === 'odd' ? audio : isPhone ? mulawOf(audio) : upsampled(audio)
        for (let at = 0; at < bytes.length; at += 4801) send(append(bytes.subarray(at, at + 4801)))
      }
      for (const one of actions) {
        if ('frame' in one) send({ ...one.frame, event_id: 'mine' })
        else if ('say' in one) sound(one.say)
        else if ('steps' in one) for (let count = 0; count < one.steps; count++) await models.step()
        else if ('next' in one) models.next = one.next
        else if ('limited' in one) record.isLimited = one.limited
        else if ('answer' in one) {
          const pending = mirror.calls.filter(({ id, status }) => status === 'completed' && !answered.has(id))
          const call = one.answer === 'first' ? pending[0] : pending.at(-1)
          if (call === undefined) continue
          answered.add(call.id)
          send({
            type: 'conversation.item.create',
            item: { type: 'function_call_output', call_id: call.id, output: '{"ok":true}' },
          })
        } else if ('about' in one) {
          const item_id = mirror.items[Math.floor(mirror.items.length / 2)]
          if (item_id === undefined) continue
          const more = one.about === 'truncate' ? { content_index: 0, audio_end_ms: 30 } : {}
          send({ type: `conversation.item.${one.about}`, item_id, ...more })
        } else {
          caller.buffered = one.slow ? HIGH_WATER_MARK + 1 : 0
          if (!one.slow) caller.listener!.onDrain()
        }
        await settled()
      }
      caller.buffered = 0
      caller.listener!.onDrain()
      for (let rounds = 0; rounds < 400 && !models.isIdle; rounds++) await models.step()
      await settled()
      expect(models.isIdle).toBe(true)
      mirror.checkQuiet()
      // Each sentence is a tenth of a second, whatever speaks at the same time.
      for (const { status, output } of mirror.ended.values())
        for (const { id } of status === 'completed' ? (output as JsonObject[]) : [])
          expect(Buffer.concat(mirror.audio.get(String(id)) ?? []).length % (isPhone ? 800 : 4800)).toBe(0)
      for (const request of models.requests) expect(faultOf(request)).toBeUndefined()
      if (ending === 'leave') caller.listener!.closed(1000, '')
      else if (ending === 'refuse') session.refuse({ kind: 'unauthenticated', message: 'Gone.' })
      else session[ending]()
      await session.closed
      await settled()
      expect([record.ends, caller.closes.length, models.running]).toEqual([1, 1, 0])
    }),
    {
      ...{ numRuns: RUNS, timeout: 5000 },
      examples: [LIMITED, PENDING_CALL, TWO_AT_ONCE].map((actions): [Action[], JsonObject, Ending] => [
        [...actions],
        { type: 'audio/pcmu' },
        'stop',
      ]),
    },
  )
  process.off('unhandledRejection', onUnhandled)
  expect(unhandled).toEqual([])
}, 600_000)

/** Returns what a strict upstream refuses in a history: calls without their results, or results without a call. */
function faultOf({ messages }: CanonicalRequest): string | undefined {
  let open = new Set<string>()
  for (const { role, content } of messages) {
    const results = content.filter(part => part.type === 'tool-result').map(({ id }) => id)
    for (const id of results) if (!open.delete(id)) return `a result without a call: ${id}`
    if (role === 'tool') continue
    if (open.size > 0) return `calls without results: ${[...open]}`
    open = new Set(content.flatMap(part => (part.type === 'tool-call' ? [part.id] : [])))
  }
  return open.size > 0 ? `calls without results at the end: ${[...open]}` : undefined
}

/** Converts 16 kHz to 24 kHz by repeating samples. */
function upsampled(audio: Buffer): Buffer {
  const out = Buffer.alloc((audio.length / 4) * 6)
  for (let at = 0; at < out.length / 2; at++) out.writeInt16LE(audio.readInt16LE(2 * Math.floor((at * 2) / 3)), 2 * at)
  return out
}

/** Converts 16 kHz to mu-law at 8 kHz. */
function mulawOf(audio: Buffer): Buffer {
  const out = Buffer.alloc(audio.length / 4)
  for (let at = 0; at < out.length; at++) {
    const sample = audio.readInt16LE(4 * at)
    const magnitude = Math.min(32_635, Math.abs(sample)) + 132
    const exponent = Math.max(0, Math.floor(Math.log2(magnitude)) - 7)
    out[at] = ~((sample < 0 ? 128 : 0) | (exponent << 4) | ((magnitude >> (exponent + 3)) & 15))
  }
  return out
}
