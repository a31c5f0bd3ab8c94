import { cannotExpress, type GatewayError } from '../canonical/error.ts'
import type { Loss, LossKinds, Path } from '../canonical/loss.ts'
import type { Json } from '../canonical/node.ts'
import type { CanonicalRequest, State } from '../canonical/request.ts'
import { hasIndependentInputs, workOf } from '../canonical/work.ts'
import { essentialTools } from './essential-tools.ts'
import { JSON_IN_WORDS } from './sanitize/json-in-words.ts'

/** Maximum number of losses in one header. */
const MAX_ENTRIES = 20
/** Maximum length of the losses listed in one header, in characters. */
const MAX_CHARACTERS = 1000

/**
 * Returns the losses to show to the caller. Leaves out losses that the response path restores, and neutral values that
 * the target format requires, whose reasons start with `minted`.
 */
export const shownLosses = (losses: readonly Loss[]): readonly Loss[] =>
  losses.every(isSilent) ? NO_LOSSES : losses.filter(loss => !isSilent(loss))

const NO_LOSSES: readonly Loss[] = []

/**
 * Returns the losses for which a request is rejected if its caller refuses losses: shown losses that cost the caller
 * something.
 */
export const refusableLosses = (losses: readonly Loss[]): readonly Loss[] =>
  shownLosses(losses).filter(({ reason }) => !HARMLESS_REASONS.has(reason))

/** Loss reason: the gateway reinserted reasoning that the caller had discarded. */
export const RESTORED_REASONING = 'remembered-thought'

/** Loss reason: the upstream demands reasoning in a turn for which none is known. */
export const NO_REASONING_KNOWN = 'reasoning-demanded'

/** Loss reason: the output limit was higher than the model's maximum. */
export const MODEL_LIMIT = 'most-the-model-answers'

/**
 * Reasons for shown losses that cost the caller nothing: the model gets its own reasoning back, no answer could have been
 * longer anyway, or the upstream demands the words.
 */
const HARMLESS_REASONS: ReadonlySet<string> = new Set([
  ...[RESTORED_REASONING, NO_REASONING_KNOWN, MODEL_LIMIT, JSON_IN_WORDS],
])

const isSilent = (loss: Loss): boolean =>
  loss.restored === true || (loss.kind === 'added' && loss.reason.startsWith('minted'))

/** Returns true if the loss is only an addition by the gateway, so that nothing in the caller's request is lost. */
export const isAddition = ({ kind }: Loss): boolean => kind === 'added' || kind === 'inserted'

/** Returns the losses without the gateway's additions. */
export const withoutAdditions = (losses: readonly Loss[]): readonly Loss[] => losses.filter(loss => !isAddition(loss))

/** Counts losses by kind. Returns undefined if there are none. Additions do not count. */
export function lossKindsOf(losses: readonly Loss[]): LossKinds | undefined {
  if (losses.length === 0) return undefined
  const counts = { dropped: 0, changed: 0, moved: 0 }
  for (const { kind } of losses) if (kind === 'dropped' || kind === 'changed' || kind === 'moved') counts[kind]++
  return counts
}

/** Adds counts of losses. */
export const sumOfKinds = (one: LossKinds | undefined, other: LossKinds | undefined): LossKinds | undefined =>
  one === undefined || other === undefined
    ? (one ?? other)
    : {
        dropped: one.dropped + other.dropped,
        changed: one.changed + other.changed,
        moved: one.moved + other.moved,
      }

/**
 * Builds the headers that report losses to the caller. Empty if there are no losses.
 *
 * - `interlingua-loss`: a list of `path reason`, separated by `; ` and truncated if it is long.
 * - `interlingua-loss-count`: the exact number of losses.
 * - `interlingua-added`: additions by the gateway, in the same form as `interlingua-loss`. They do not count
 * as losses.
 *
 * @param reported the losses to show to the caller.
 * @param locate maps a path in the canonical request to the path in the caller's body.
 */
export function lossHeaders(
  reported: readonly Loss[],
  locate: (path: Path) => Path = path => path,
): { readonly [name: string]: string } {
  if (reported.length === 0) return {}
  const added = reported.filter(isAddition)
  const lost = added.length === 0 ? reported : withoutAdditions(reported)
  return {
    ...(lost.length === 0
      ? {}
      : { 'interlingua-loss': listed(lost, locate), 'interlingua-loss-count': String(lost.length) }),
    ...(added.length === 0 ? {} : { 'interlingua-added': listed(added, locate) }),
  }
}

/** Lists losses as `path reason; …` within the limits of a header. */
function listed(losses: readonly Loss[], locate: (path: Path) => Path): string {
  let list = ''
  let entries = 0
  for (const { path, reason } of losses) {
    const entry = `${locate(path)
      .map(step => headerSafe(String(step)))
      .join('/')} ${headerSafe(reason)}`
    if (entries === MAX_ENTRIES || list.length + entry.length > MAX_CHARACTERS) break
    list += entries === 0 ? entry : `; ${entry}`
    entries++
  }
  return list
}

/**
 * Returns the losses for which a request is always refused, because no answer could make up for them:
 *
 * - state that the upstream cannot store, and references to items and prompts stored elsewhere;
 * - media in the last user turn or, for lists of inputs, in any input;
 * - the video to remix;
 * - fields that determine the shape of a transcript;
 * - tools without which the conversation cannot continue (`essential-tools.ts`);
 * - the audio container of speech;
 * - the type of a vector's numbers;
 * - the log probabilities of a prompt.
 */
export function essentialLosses(losses: readonly Loss[], request: CanonicalRequest): readonly Loss[] {
  const turn = request.messages.findLastIndex(message => message.role === 'user')
  const tools = new Set(essentialTools(losses, request))
  return losses.filter(
    loss =>
      tools.has(loss) ||
      losesContainer(loss, request) ||
      (loss.kind === 'dropped' &&
        (losesState(loss, request) ||
          losesVisibleMedia(loss, request, turn) ||
          losesReference(loss, request) ||
          losesStoredPrompt(loss, request) ||
          losesRemix(loss) ||
          losesNumberType(loss, request) ||
          losesPromptScores(loss, request) ||
          losesTranscriptField(loss, request))),
  )
}

const isOfThread = ({ path }: Loss): boolean => path[0] === 'state' && path[1] === 'thread'

/**
 * Creates the 422 error that lists every loss. A lost thread has its own error code, which makes clients resend the
 * whole conversation (trap 94).
 *
 * @param located the same losses, with paths in the caller's body.
 */
export function refusal(losses: readonly Loss[], located: readonly Loss[] = losses): GatewayError {
  if (losses.some(isOfThread)) return cannotExpress(NO_THREADS, 'thread', 'thread_unsupported_request')
  const list = located.map(loss => `${loss.path.join('/')} (${loss.reason})`).join(', ')
  const message = `The model's upstream does not support everything in this request. Losses: ${list}.`
  const [only, ...others] = located
  return cannotExpress(message, others.length === 0 ? only?.path.join('.') : undefined, 'cannot_express')
}

const NO_THREADS = "The model's upstream stores no threads. Send the complete conversation without `thread`."

/** Returns true if speech would have a different audio container than requested, which the client could not play. */
const losesContainer = ({ kind, path, restored }: Loss, request: CanonicalRequest): boolean =>
  (kind === 'dropped' || kind === 'changed') &&
  restored !== true &&
  path.join('/') === 'output/audio/mediaType' &&
  workOf(request) === 'speech'

/**
 * Tests for state settings that actually request something. `store: false` and `background: false` do not. Neither does
 * `store` in `chat`, which only stores a copy for the vendor's dashboard.
 */
const IS_REQUESTED: { readonly [K in keyof State]-?: (value: State[K], request: CanonicalRequest) => boolean } = {
  store: (value, request) => value === true && !storesCopy(request),
  previous: value => value !== undefined,
  conversation: value => value !== undefined,
  background: value => value === true,
  thread: value => value !== undefined,
}

const storesCopy = ({ spelling = {} }: CanonicalRequest): boolean =>
  Object.values(spelling).some(one => one['storesCopy'] === true)

/** Returns true if the loss drops a state setting that requests something. */
function losesState({ path }: Loss, request: CanonicalRequest): boolean {
  const { state } = request
  if (state === undefined || path[0] !== 'state') return false
  const requested = Object.entries(IS_REQUESTED)
    .filter(([field, asks]) => (asks as (...of: unknown[]) => boolean)(state[field as keyof State], request))
    .map(([field]) => field)
  return path.length === 1 ? requested.length > 0 : requested.includes(String(path[1]))
}

/**
 * Returns true if the loss drops media that the model must see: an entire message, its content, a part of it, or the
 * source of a part. In a conversation, only the last user turn matters. In a list of inputs, every input matters.
 */
function losesVisibleMedia({ path, restored }: Loss, request: CanonicalRequest, turn: number): boolean {
  const at = hasIndependentInputs(request) ? path[1] : turn
  if (restored === true || path[0] !== 'messages' || path[1] !== at) return false
  if (path.length > 2 && path[2] !== 'content') return false
  const content = request.messages[Number(at)]?.content ?? []
  if (path.length <= 3) return content.some(isMediaOrOpaque)
  const part = content[Number(path[3])]
  return (
    part !== undefined && isMediaOrOpaque(part) && (path.length === 4 || (path.length === 5 && path[4] === 'source'))
  )
}

/** Returns true if the loss drops a part that refers to data stored at the upstream that issued it. */
function losesReference({ path }: Loss, request: CanonicalRequest): boolean {
  if (path[0] !== 'messages' || path.length !== 4) return false
  const part = request.messages[Number(path[1])]?.content[Number(path[3])]
  return part?.type === 'opaque' && part.reference === true
}

/** Matches the name of a prompt that Google stores, which a request continues (docs/wire/contents.md#request). */
const STORED_PROMPT = /(?:^|\/)cachedContents\/./

/** Returns true if the loss drops the name of a stored prompt. The model would answer without its instructions and files. */
function losesStoredPrompt({ path }: Loss, request: CanonicalRequest): boolean {
  const value = extraAt(path, request)
  return typeof value === 'string' && STORED_PROMPT.test(value)
}

/** Returns the request's extra field at a path, or undefined for any other path. */
const extraAt = ([field, format, name, ...deeper]: Path, { extras }: CanonicalRequest): Json | undefined =>
  field === 'extras' && deeper.length === 0 ? extras?.[String(format)]?.[String(name)] : undefined

const losesRemix = ({ path }: Loss): boolean => path.join('/') === 'output/video/remixOf'

/** Types of a vector's numbers in all formats, except for floats. */
const NUMBER_TYPES: ReadonlySet<unknown> = new Set(['int8', 'uint8', 'binary', 'ubinary'])

/** Returns true if the loss drops the only types of numbers that the caller reads vectors as. */
function losesNumberType({ path }: Loss, request: CanonicalRequest): boolean {
  const types = [extraAt(path, request)].flat()
  return workOf(request) === 'embedding' && types.length > 0 && types.every(type => NUMBER_TYPES.has(type))
}

/**
 * Returns true if an echoed prompt would have no log probabilities, because a conversation only has those of its answer.
 * Evaluation harnesses sum them over the prompt, so that their lack is a score of zero.
 */
const losesPromptScores = (
  { path }: Loss,
  { output: { completion }, sampling: { logprobs } }: CanonicalRequest,
): boolean => path.join('/') === 'output/completion' && completion?.echo === true && logprobs !== undefined

/** Returns true if the loss drops a field that determines the shape of the transcript. */
const losesTranscriptField = ({ path }: Loss, { output: { transcript } }: CanonicalRequest): boolean =>
  transcript !== undefined && path.length === 3 && path[1] === 'transcript' && TRANSCRIPT_FIELDS.has(path[2]!)

const TRANSCRIPT_FIELDS: ReadonlySet<string | number> = new Set(['task', 'timestamps', 'speakers'])

const isMediaOrOpaque = (part: { readonly type: string }): boolean => part.type === 'media' || part.type === 'opaque'

/**
 * Percent-encodes characters that could end a header, an entry or a path element. Paths contain names chosen by
 * callers.
 */
const headerSafe = (text: string): string => text.toWellFormed().replace(/[^!-~]|[%;/]/gu, encodeURIComponent)
