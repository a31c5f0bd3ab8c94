import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { RUNS } from '../../laws/runs.ts'
import { type Behaviour, Gemini, type Kind } from './gemini.ts'
import { SOUNDS, sessionWith, settled, update } from './session.ts'

/*
 * A model of a caller's session with Gemini's Live API: frames of the caller, steps of the model, calls, interruptions,
 * lost connections and limits in any order. Whatever happens, a strict client and a strict server accept each frame,
 * every response ends, and a later turn is answered in full.
 */

type Action =
  | { readonly frame: JsonObject }
  | { readonly say: 'voice' | 'quiet' | 'odd' }
  | { readonly steps: number }
  | { readonly next: Behaviour }
  | { readonly limited: boolean }
  | { readonly answer: 'first' | 'last' }
  | { readonly upstream: 'go away' | 'break' | 'refuse once' }

const create = (response?: JsonObject): JsonObject => ({ type: 'response.create', ...(response && { response }) })
const text = (words: string): JsonObject => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: words }] },
})
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .constantFrom<JsonObject>(
        ...[create(), create(), text('Hello there.'), { type: 'response.cancel' }, create({ conversation: 'none' })],
        ...[{ type: 'input_audio_buffer.commit' }, { type: 'input_audio_buffer.commit' }],
        { type: 'input_audio_buffer.clear' },
        create({ instructions: 'Greet.' }),
        update({ instructions: 'Be brief.' }),
        { type: 'nonsense' },
      )
      .map(frame => ({ frame })),
  },
  { weight: 7, arbitrary: fc.constantFrom('voice' as const, 'quiet' as const, 'odd' as const).map(say => ({ say })) },
  { weight: 14, arbitrary: fc.constantFrom(1, 2, 5, 20).map(steps => ({ steps })) },
  {
    weight: 5,
    arbitrary: fc.constantFrom<Behaviour>('speaks', 'calls', 'calls twice', 'is silent').map(next => ({ next })),
  },
  { weight: 1, arbitrary: fc.boolean().map(limited => ({ limited })) },
  { weight: 5, arbitrary: fc.constantFrom('first' as const, 'last' as const).map(answer => ({ answer })) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('go away' as const, 'break' as const, 'refuse once' as const)
      .map(upstream => ({ upstream })),
  },
)

const CANCEL: Action = { frame: { type: 'response.cancel' } }
/** The response waits for the second result when it is cancelled. */
const CANCELLED_WHILE_WAITING: readonly Action[] = [
  ...([{ next: 'calls twice' }, { frame: text('Find it.') }, { frame: create() }, { steps: 20 }] as const),
  ...([{ answer: 'first' }, { frame: create() }, CANCEL] as const),
]
/** The calls of the cancelled response arrive after the next request. */
const CANCELLED_BEFORE_CALLS: readonly Action[] = [
  ...([{ next: 'calls' }, { steps: 1 }, { frame: create() }] as const),
  ...([{ next: 'calls twice' }, CANCEL, { frame: create() }] as const),
]
/** Nothing was said, so that the model does not answer. */
const CANCELLED_SILENCE: readonly Action[] = [
  ...([{ say: 'quiet' }, { frame: { type: 'input_audio_buffer.commit' } }, { frame: create() }, CANCEL] as const),
]
/** The connection that heard the beginning of the turn is lost. */
const LOST_IN_A_TURN: readonly Action[] = [
  ...([{ say: 'voice' }, { frame: create() }, { steps: 20 }, { frame: create() }, { upstream: 'break' }] as const),
  { say: 'voice' },
]

/** The user interrupts the first answer before any of it was sent. */
const INTERRUPTED_AT_ONCE: readonly Action[] = [
  ...([{ frame: create() }, { steps: 1 }, { say: 'voice' }, { steps: 2 }, { steps: 1 }, { frame: create() }] as const),
]
/** A text waits for the end of the first answer, with the beginning of the user's turn. */
const TEXT_DURING_THE_FIRST_ANSWER: readonly Action[] = [
  ...([{ frame: create() }, { frame: text('Hello there.') }, { say: 'voice' }] as const),
]

const detection = fc.constantFrom<JsonObject | null>({ type: 'server_vad' }, null)

const kind = fc.constantFrom<Kind>('second generation', 'third generation', 'of the cloud')

test('a session with Gemini Live, whatever happens in whatever order', async () => {
  const unhandled: unknown[] = []
  const onUnhandled = (thrown: unknown): void => void unhandled.push(thrown)
  process.on('unhandledRejection', onUnhandled)
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 30, size: 'max' }),
      detection,
      kind,
      async (actions, turnDetection, of) => {
        const { caller, record, gemini, mirror, session, send, say } = await sessionWith(new Gemini(of), turnDetection)
        const answered = new Set<string>()
        const answer = (which: 'first' | 'last'): boolean => {
          const pending = mirror.calls.filter(({ id, status }) => status === 'completed' && !answered.has(id))
          const call = which === 'first' ? pending[0] : pending.at(-1)
          if (call === undefined) return false
          answered.add(call.id)
          send({
            type: 'conversation.item.create',
            item: { type: 'function_call_output', call_id: call.id, output: '{"ok":true}' },
          })
          return true
        }
        const rest = async (): Promise<void> => {
          await settled()
          for (let rounds = 0; rounds < 200 && !gemini.isIdle; rounds++) {
            gemini.step()
            await settled()
          }
        }
        for (const one of actions) {
          if (caller.closes.length > 0) break
          if ('frame' in one) send({ ...one.frame, event_id: 'mine' })
          else if ('say' in one) say(SOUNDS[one.say])
          else if ('steps' in one) for (let count = 0; count < one.steps; count++) gemini.step()
          else if ('next' in one) gemini.next = one.next
          else if ('limited' in one) record.isLimited = one.limited
          else if ('answer' in one) answer(one.answer)
          else if (one.upstream === 'go away') gemini.last.goAway()
          else if (one.upstream === 'break') gemini.last.break(1006)
          else gemini.refusing = 1
          await settled()
        }
        record.isLimited = false
        gemini.next = 'speaks'
        gemini.refusing = 0
        await rest()
        if (caller.closes.length === 0) {
          // The client answers all calls, and waits.
          while (answer('first'));
          send(create())
          await rest()
          // A response to a turn without speech stays open until it is cancelled.
          if (mirror.open.size > 0) send({ type: 'response.cancel' })
          await rest()
          mirror.checkQuiet()
          gemini.next = 'speaks'
          send(text('And now?'))
          send(create())
          await rest()
          mirror.checkQuiet()
          const last = [...mirror.ended.values()].at(-1)!
          expect([last['status'], mirror.errors.at(-1)]).toEqual(['completed', mirror.errors.at(-1)])
          const said = (last['output'] as JsonObject[]).map(({ id }) =>
            Buffer.concat(mirror.audio.get(String(id)) ?? []),
          )
          expect(Buffer.concat(said).length).toBe(960)
        }
        expect(mirror.fault).toBeUndefined()
        expect(gemini.faults).toEqual([])
        session.stop()
        await session.closed
        expect([record.ends, caller.closes.length]).toEqual([1, 1])
      },
    ),
    {
      ...{ numRuns: RUNS, timeout: 5000 },
      examples: [
        ...[CANCELLED_WHILE_WAITING, CANCELLED_BEFORE_CALLS, CANCELLED_SILENCE].map(
          (actions): [Action[], JsonObject | null, Kind] => [[...actions], { type: 'server_vad' }, 'second generation'],
        ),
        [[...LOST_IN_A_TURN], null, 'second generation'],
        [[...INTERRUPTED_AT_ONCE], { type: 'server_vad' }, 'third generation'],
        [[...TEXT_DURING_THE_FIRST_ANSWER], null, 'third generation'],
      ],
    },
  )
  process.off('unhandledRejection', onUnhandled)
  expect(unhandled).toEqual([])
}, 600_000)
