import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Json, JsonObject } from '../../src/canonical/node.ts'
import { mayBeSent } from '../../src/voice/closing.ts'
import { Relay } from '../../src/voice/formats/realtime/relay.ts'
import { HIGH_WATER_MARK } from '../../src/voice/limits.ts'
import { RUNS } from '../laws/runs.ts'
import { FakeRecord, FakeSide } from './sides.ts'

/*
 * A model of a relayed voice session: events of both sides, ends, limits and slow readers in any order. Whatever
 * happens, each side gets what the other sent in its order, responses are admitted and charged once, and the session
 * ends once, on both sides, with codes that may be sent.
 */

type Action =
  | { readonly by: 'caller' | 'upstream'; readonly frame: string; readonly isBinary?: boolean }
  | { readonly by: 'caller' | 'upstream'; readonly close: number }
  | { readonly by: 'gateway'; readonly call: 'finish' | 'stop' | 'refuse' | 'terminate' | 'limit' | 'unlimit' | 'idle' }
  | { readonly by: 'caller' | 'upstream'; readonly slow: boolean }

const frame = (value: Json): string => JSON.stringify(value)
const id = fc.constantFrom('r1', 'r2', 'r3')
const counted = (tokens: number): JsonObject => ({
  input_tokens: tokens,
  output_tokens: tokens,
  total_tokens: 2 * tokens,
})
const usage = fc.constantFrom<Json>(null, counted(0), counted(7), counted(100))
const status = fc.constantFrom('completed', 'cancelled', 'failed', 'incomplete')
const eventId = fc.constantFrom<Json>(null, 'e1', 'e2')

const callerFrame = fc.oneof(
  eventId.map(event_id => frame({ type: 'response.create', ...(event_id === null ? {} : { event_id }) })),
  fc.constant(frame({ type: 'input_audio_buffer.append', audio: Buffer.alloc(960).toString('base64') })),
  fc.constant(frame({ type: 'session.update', session: { type: 'realtime', instructions: 'x' } })),
  fc.constantFrom('x', '[]', '{"type":7}', '{}'),
)
const upstreamFrame = fc.oneof(
  id.map(id => frame({ type: 'response.created', response: { id } })),
  id.map(id => frame({ type: 'response.created', response: { id } })),
  fc
    .tuple(id, usage, status)
    .map(([id, usage, status]) => frame({ type: 'response.done', response: { id, status, usage } })),
  fc.constant(frame({ type: 'response.output_audio.delta', delta: Buffer.alloc(4800).toString('base64') })),
  eventId.map(event_id => frame({ type: 'error', error: { message: 'No.', event_id } })),
  fc.constant(
    frame({
      type: 'conversation.item.input_audio_transcription.completed',
      usage: { type: 'duration', seconds: 3 },
    }),
  ),
  fc.constantFrom('x', '{"type":"vendor.event"}', '{}'),
)
const code = fc.constantFrom(1000, 1001, 1005, 1006, 1011, 1012, 4000)
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: callerFrame.map(frame => ({ by: 'caller' as const, frame })) },
  { weight: 12, arbitrary: upstreamFrame.map(frame => ({ by: 'upstream' as const, frame })) },
  { weight: 1, arbitrary: fc.constant({ by: 'caller' as const, frame: 'x', isBinary: true }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('caller' as const, 'upstream' as const), code)
      .map(([by, close]) => ({ by, close })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('caller' as const, 'upstream' as const), fc.boolean())
      .map(([by, slow]) => ({ by, slow })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(...(['finish', 'stop', 'refuse', 'terminate', 'limit', 'unlimit', 'idle'] as const))
      .map(call => ({ by: 'gateway' as const, call })),
  },
)

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const same = <T>(value: T): T => value
const FIRST = frame({ type: 'session.created', session: { id: 's', type: 'realtime' } })

test('a relayed session, whatever happens in whatever order', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 30 }), actions => {
      const [caller, upstream, record] = [new FakeSide(), new FakeSide(), new FakeRecord()]
      let ids = 0
      const options: object = {
        ...{ caller, upstream, record },
        limits: { idle: 1000, lifetime: 100_000, buffer: 1e9 },
        first: [Buffer.from(FIRST)],
        models: { incoming: same, outgoing: same, publicName: same },
        scrub: same,
        publicError: same,
        newId: (prefix: string) => `${prefix}_${++ids}`,
      }
      const relay = new Relay(options as ConstructorParameters<typeof Relay>[0])
      relay.start()
      const isOver = (): boolean => caller.closes.length > 0
      const running = new Set<string>()
      let [isFinishing, created, requested, charged] = [false, 0, 0, 0]
      const [toUpstream, toCaller]: string[][] = [[], []]
      for (const one of actions) {
        if (isOver()) break
        const side = one.by === 'upstream' ? upstream : caller
        if ('frame' in one) {
          const value = parse(one.frame)
          if (one.by === 'caller') {
            const refusedBefore = record.refused
            side.listener!.frame(Buffer.from(one.frame), one.isBinary === true)
            if (value?.['type'] === 'response.create' && record.refused === refusedBefore) requested++
            if (value !== undefined && one.isBinary !== true && record.refused === refusedBefore)
              toUpstream!.push(one.frame)
          } else {
            const response = value?.['response'] as JsonObject | undefined
            const type = value?.['type']
            if (type === 'response.created') {
              created++
              running.add(String(response!['id']))
            } else if (type === 'response.done') {
              running.delete(String(response!['id']))
              charged += Number((response!['usage'] as JsonObject | null)?.['input_tokens'] ?? 0)
            }
            side.listener!.frame(Buffer.from(one.frame), false)
            if (typeof type === 'string' && type !== 'error' && type !== 'session.created') toCaller!.push(one.frame)
          }
        } else if ('close' in one) side.listener!.closed(one.close, 'why')
        else if ('slow' in one) {
          side.buffered = one.slow ? HIGH_WATER_MARK + 1 : 0
          if (!one.slow) side.listener!.onDrain()
        } else if (one.call === 'limit' || one.call === 'unlimit') record.isLimited = one.call === 'limit'
        else if (one.call === 'idle') vi.advanceTimersByTime(1000)
        else if (one.call === 'refuse') relay.refuse({ kind: 'unauthenticated', message: 'Gone.' })
        else relay[one.call]()
        isFinishing ||= 'call' in one && one.call === 'finish'
        if (isFinishing) expect(isOver()).toBe(running.size === 0 || isOver())
        if (isFinishing && running.size === 0) expect(isOver()).toBe(true)
        // Neither side stays paused for a reader that has caught up.
        if (!isOver() && caller.buffered === 0) expect(upstream.isPaused).toBe(false)
        if (!isOver() && upstream.buffered === 0) expect(caller.isPaused).toBe(false)
      }
      const passed = (sent: readonly string[], of: readonly string[]) => sent.filter(text => of.includes(text))
      expect(passed(upstream.sent, toUpstream!)).toEqual(toUpstream)
      expect(passed(caller.sent, toCaller!)).toEqual(toCaller)
      expect(record.charged).toBe(charged)
      // A response that began is admitted once, when it was requested or when it began.
      expect(record.admitted).toBeLessThanOrEqual(requested + created)
      expect(record.admitted).toBeGreaterThanOrEqual(requested)
      relay.stop()
      expect([record.ends, caller.closes.length, upstream.closes.length]).toEqual([1, 1, 1])
      for (const [code] of [...caller.closes, ...upstream.closes]) expect(mayBeSent(code)).toBe(true)
      expect(vi.getTimerCount()).toBe(0)
    }),
    { numRuns: RUNS * 3 },
  )
})

function parse(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
