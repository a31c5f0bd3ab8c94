import type { MediaPart, Part } from '../../canonical/content.ts'
import { upstreamFailed } from '../../canonical/error.ts'
import type { Path } from '../../canonical/loss.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { imageOfBase64 } from '../../canonical/media/sniff.ts'
import type { Json } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { TaskState } from '../../canonical/task.ts'
import { defined, definedIfAny, WrongType } from '../fields.ts'
import { type Locate, locator } from '../locate.ts'

/* Readers shared by the video formats. */

/**
 * Creates the canonical request for a video from a prompt and its reference images. Undefined `settings` are left out.
 */
export const videoRequest = (
  model: string,
  prompt: string | undefined,
  images: readonly Part[],
  settings: NonNullable<Output['video']>,
): CanonicalRequest => ({
  model,
  messages: [
    {
      role: 'user',
      content: [...(prompt === undefined ? [] : [{ type: 'text', text: prompt } as const]), ...images],
    },
  ],
  output: { modalities: ['video'], ...defined({ video: definedIfAny(settings) }) },
  sampling: {},
  stream: false,
})

/** Reads an image given as a URL, a `data:` URL or plain base64. */
export function imageOfText(value: string): MediaPart {
  const isUrl = value.startsWith('data:') || /^[a-z][a-z0-9+.-]*:\/\//i.test(value)
  return { type: 'media', kind: 'image', source: isUrl ? sourceOfUrl(value) : imageOfBase64(value) }
}

const PROMPT: Path = ['prompt']

/** Locates the prompt and the images of a video request in the body. */
export const locateVideo =
  (fieldOf: (image: Part) => string) =>
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
 * Reads a length in seconds from a number or a string. Returns undefined for a string that is not a number, which the
 * upstream must check.
 */
export function readLength(wire: Json | undefined): number | undefined {
  if (wire == null) return undefined
  if (typeof wire !== 'string' && typeof wire !== 'number') throw WrongType.instance
  const seconds = typeof wire === 'number' ? wire : wire.trim() === '' ? Number.NaN : Number(wire)
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined
}

/** Reads a length in seconds from an answer. Vendors send it as a string such as `"5.041"`. */
export function readSeconds(wire: Json | undefined): number | undefined {
  const seconds = typeof wire === 'string' && wire.trim() !== '' ? Number(wire) : wire
  return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds : undefined
}

/** Error for an answer without a task. */
export const NO_TASK = upstreamFailed('The upstream answered without a task.')

/** Message for a failed task without a reason. */
export const NO_REASON = 'The upstream gave no reason why there is no video.'

/** Task states by the upstreams' names, in lower case. */
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

/** Reads the state of a task. An unknown state counts as in progress. */
export function stateOf(word: Json | undefined): TaskState {
  if (word == null) return 'queued'
  return (typeof word === 'string' ? STATES.get(word.toLowerCase()) : undefined) ?? 'in-progress'
}
