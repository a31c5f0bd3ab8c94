import type { MediaPart, TextPart } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import type { Format, Node } from '../../canonical/node.ts'
import type { CanonicalRequest, Output, State } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, TokenLogprob } from '../../canonical/result.ts'

/*
 * Loss reports for formats with only a few of the canonical fields. Every field that is set but not written is
 * reported.
 */

/**
 * Reports every field of the node as lost, except for written fields, and for extras and spelling, which
 * `foreignLosses` reports.
 */
export function dropOthers(
  node: object | undefined,
  path: Path,
  written: ReadonlySet<string>,
  reason: string,
  losses: Losses,
): void {
  for (const [field, value] of Object.entries(node ?? {}))
    if (value !== undefined && !written.has(field) && field !== 'extras' && field !== 'spelling')
      losses.drop([...path, field], reason)
}

/** Losses of text parts in formats whose text parts are plain strings. */
export const PLAIN_TEXT_LOSSES: Unwritten<TextPart, 'type' | 'text'> = {
  cache: 'no-cache-markers',
  annotations: 'no-annotations',
}

/** Losses of media parts in formats whose media consist only of bytes or a URL. */
export const PLAIN_MEDIA_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'name' | 'made' | 'use'> = {
  cache: 'no-cache-markers',
  detail: 'no-detail-here',
  transcript: 'no-transcript-here',
}

/** Losses of result fields that ordinary answers cannot hold. */
export const NO_TASK: Unwritten<
  CanonicalResult,
  'id' | 'model' | 'createdAt' | 'candidates' | 'usage' | 'serviceTier' | 'complete'
> = { task: 'no-tasks', error: 'no-error-beside-an-answer' }

/** Losses of candidate fields that only transcriptions have, in text formats. */
export const NO_TIMES: Unwritten<Candidate, 'content' | 'finish' | 'logprobs'> = { transcript: 'no-times' }
/** Losses of log probabilities in formats that identify tokens only by their text. */
export const NO_BYTES: Unwritten<TokenLogprob, 'token' | 'logprob' | 'top'> = { bytes: 'no-bytes-of-tokens' }

/** Losses of output settings in formats that only generate text. */
export const TEXT_ONLY = {
  image: 'text-only',
  audio: 'text-only',
  video: 'text-only',
  embedding: 'text-only',
  transcript: 'text-only',
} as const satisfies { readonly [F in keyof Output]?: string }

/** Losses of state in formats whose upstreams store nothing between requests. */
export const NO_STATE: Unwritten<State> = {
  store: 'no-storage',
  previous: 'no-kept-answers',
  conversation: 'no-conversations',
  background: 'no-background-work',
  thread: 'no-threads',
}

/** Reports a node's extras of this format as lost, because the format writes the node as a plain value. */
export function dropExtras(node: Node | undefined, path: Path, format: Format, losses: Losses): void {
  for (const field in node?.extras?.[format]) losses.drop([...path, 'extras', format, field], 'no-equivalent-field')
}

const REQUEST_FIELDS = new Set(['model', 'messages', 'output', 'sampling', 'stream'])
const MESSAGE_FIELDS = new Set(['role', 'content'])
const NO_FIELDS: ReadonlySet<string> = new Set()

/**
 * Reports all request fields as lost, except for `model`, `stream`, and the role and content of messages.
 *
 * @param output names of the output settings that the format writes.
 */
export function reportUnwritten(request: CanonicalRequest, output: ReadonlySet<string>, losses: Losses): void {
  dropOthers(request, [], REQUEST_FIELDS, 'only-in-conversations', losses)
  dropOthers(request.sampling, ['sampling'], NO_FIELDS, 'only-in-conversations', losses)
  dropOthers(request.output, ['output'], output, 'another-kind-of-answer', losses)
  for (const [index, message] of request.messages.entries())
    dropOthers(message, ['messages', index], MESSAGE_FIELDS, 'only-in-conversations', losses)
}

const CONVERSATIONAL: Unwritten<
  CanonicalRequest,
  'model' | 'messages' | 'output' | 'sampling' | 'state' | 'endUser' | 'stream'
> = {
  tools: 'no-tools',
  toolChoice: 'no-tools',
  parallelToolCalls: 'no-tools',
  reasoning: 'no-reasoning',
  metadata: 'no-metadata',
  serviceTier: 'no-tiers',
  cache: 'no-cache-markers',
  cacheKey: 'no-cache-keys',
}

/** Request fields that `reportConversational` reports. */
export type Conversational = keyof typeof CONVERSATIONAL

/** Reports request fields that only conversations have as lost, for formats that do other kinds of work. */
export function reportConversational(request: CanonicalRequest, losses: Losses, sampled = 'nothing-is-sampled'): void {
  losses.dropFields(request, [], CONVERSATIONAL)
  dropOthers(request.sampling, ['sampling'], NO_FIELDS, sampled, losses)
}

const CANDIDATE_FIELDS = new Set(['content'])

/**
 * Reports all result fields as lost, except for the content of the first candidate.
 *
 * @param written names of the result fields that the format writes.
 */
export function reportUnwrittenResult(result: CanonicalResult, written: ReadonlySet<string>, losses: Losses): void {
  dropOthers(result, [], written, 'no-field-here', losses)
  for (const [index, candidate] of result.candidates.entries())
    if (index > 0) losses.drop(['candidates', index], 'one-answer-only')
    else dropOthers(candidate, ['candidates', 0], CANDIDATE_FIELDS, 'no-field-here', losses)
}
