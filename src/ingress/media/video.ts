import type { Part } from '../../canonical/content.ts'
import { upstreamFailed } from '../../canonical/error.ts'
import type { Path } from '../../canonical/loss.ts'
import type { Json } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { TaskState } from '../../canonical/task.ts'
import { defined, someOf, WrongType } from '../fields.ts'
import { type Locate, locator } from '../locate.ts'

/* What requests for videos, and answers about them, have in common in the formats that make them. */

/** A request for a video: a prompt, and pictures it begins with or shows; `settings` without a field are none. */
export const videoRequest = (
  model: string,
  prompt: string | undefined,
  pictures: readonly Part[],
  settings: NonNullable<Output['video']>,
): CanonicalRequest => ({
  model,
  messages: [
    {
      role: 'user',
      content: [...(prompt === undefined ? [] : [{ type: 'text', text: prompt } as const]), ...pictures],
    },
  ],
  output: { modalities: ['video'], ...defined({ video: someOf(settings) }) },
  sampling: {},
  stream: false,
})

const PROMPT: Path = ['prompt']

/** Where in a body its prompt and its pictures stand. */
export const locateVideo =
  (fieldOf: (picture: Part) => string) =>
  ({ messages }: CanonicalRequest): Locate =>
    locator(
      'prompt',
      messages.map(({ content }) => ({
        at: PROMPT,
        parts: content.map(part => (part.type === 'text' ? PROMPT : [fieldOf(part)])),
      })),
      PROMPT,
    )

/**
 * A length in seconds: a number in a text, or bare as some callers write it; any other text is for the upstream to
 * judge, and undefined.
 */
export function readLength(wire: Json | undefined): number | undefined {
  if (wire == null) return undefined
  if (typeof wire !== 'string' && typeof wire !== 'number') throw WrongType.instance
  const seconds = typeof wire === 'number' ? wire : wire.trim() === '' ? Number.NaN : Number(wire)
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined
}

/** A length in an answer, which vendors write as a text, `"5.041"`. */
export function readSeconds(wire: Json | undefined): number | undefined {
  const seconds = typeof wire === 'string' && wire.trim() !== '' ? Number(wire) : wire
  return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds : undefined
}

/** The error for an answer that is no task. */
export const NO_TASK = upstreamFailed('The upstream answered without a task.')

/** The message of a failure that came without one. */
export const NO_REASON = 'The upstream gave no reason why there is no video.'

/** The words of upstreams for the states of tasks, whatever their case. */
const STATES: ReadonlyMap<string, TaskState> = new Map<string, TaskState>([
  ['queued', 'queued'],
  ['pending', 'queued'],
  ['submitted', 'queued'],
  ['in_progress', 'in-progress'],
  ['processing', 'in-progress'],
  ['running', 'in-progress'],
  ['completed', 'completed'],
  ['succeed', 'completed'],
  ['succeeded', 'completed'],
  ['success', 'completed'],
  ['failed', 'failed'],
  ['fail', 'failed'],
  ['failure', 'failed'],
  ['error', 'failed'],
  ['cancelled', 'failed'],
  ['canceled', 'failed'],
  ['expired', 'failed'],
])

/** The state of a task; an unknown word stands for one that goes on. */
export function stateOf(word: Json | undefined): TaskState {
  if (word == null) return 'queued'
  return (typeof word === 'string' ? STATES.get(word.toLowerCase()) : undefined) ?? 'in-progress'
}
