import type { MediaPart, TextPart } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import type { Format, Node } from '../../canonical/node.ts'
import type { CanonicalRequest, State } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, TokenLogprob } from '../../canonical/result.ts'

/* For formats without most of the canonical fields: all other fields that are set are reported. */

/** Drops every field of the node except those named; extras and spelling are reported by `foreign`. */
export function dropOthers(
  node: object | undefined,
  path: Path,
  kept: ReadonlySet<string>,
  reason: string,
  losses: Losses,
): void {
  for (const [field, value] of Object.entries(node ?? {}))
    if (value !== undefined && !kept.has(field) && field !== 'extras' && field !== 'spelling')
      losses.drop([...path, field], reason)
}

/** What texts have in formats where they are nothing but text. */
export const NO_MARKS: Unwritten<TextPart, 'type' | 'text'> = {
  cache: 'no-cache-markers',
  annotations: 'no-annotations',
}

/** What media are noted with in formats where they are nothing but bytes or an address. */
export const NO_NOTES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'name' | 'made' | 'use'> = {
  cache: 'no-cache-markers',
  detail: 'no-detail-here',
  transcript: 'no-transcript-here',
}

/** What answers lose of a result in formats that have a head, candidates and a usage. */
export const NO_TASK: Unwritten<
  CanonicalResult,
  'id' | 'model' | 'createdAt' | 'candidates' | 'usage' | 'serviceTier' | 'complete'
> = { task: 'no-tasks', error: 'no-error-beside-an-answer' }

/** What texts lose of a candidate, which only recordings have. */
export const NO_TIMES: Unwritten<Candidate, 'content' | 'finish' | 'logprobs'> = { transcript: 'no-times' }
/** What tokens lose where they are identified by their texts alone. */
export const NO_BYTES: Unwritten<TokenLogprob, 'token' | 'logprob' | 'top'> = { bytes: 'no-bytes-of-tokens' }

/** For formats whose upstreams keep nothing between requests. */
export const NO_STATE: Unwritten<State> = {
  store: 'no-storage',
  previous: 'no-kept-answers',
  conversation: 'no-conversations',
  background: 'no-background-work',
  thread: 'no-threads',
}

/** Drops each field that the format itself has on a node, but no place for where the node is written. */
export function dropOwn(node: Node | undefined, path: Path, format: Format, losses: Losses): void {
  for (const field in node?.extras?.[format]) losses.drop([...path, 'extras', format, field], 'no-place-for-it')
}

const REQUEST = new Set(['model', 'messages', 'output', 'sampling', 'stream'])
const MESSAGE = new Set(['role', 'content'])
const NOTHING: ReadonlySet<string> = new Set()

/** Reports all fields of a request besides its messages; `output` names the output fields that are written. */
export function reportUnwritten(request: CanonicalRequest, output: ReadonlySet<string>, losses: Losses): void {
  dropOthers(request, [], REQUEST, 'only-in-conversations', losses)
  dropOthers(request.sampling, ['sampling'], NOTHING, 'only-in-conversations', losses)
  dropOthers(request.output, ['output'], output, 'another-kind-of-answer', losses)
  for (const [index, message] of request.messages.entries())
    dropOthers(message, ['messages', index], MESSAGE, 'only-in-conversations', losses)
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

/** The fields of a request that `reportConversational` reports. */
export type Conversational = keyof typeof CONVERSATIONAL

/** Reports what only conversations have, with a reason for each field, for writers of other work. */
export function reportConversational(request: CanonicalRequest, losses: Losses, sampled = 'nothing-is-sampled'): void {
  losses.dropFields(request, [], CONVERSATIONAL)
  dropOthers(request.sampling, ['sampling'], NOTHING, sampled, losses)
}

const CANDIDATE = new Set(['content'])

/**
 * Reports all fields of a result besides the content of its one candidate; `written` names the result fields that are
 * written.
 */
export function onlyAnswers(result: CanonicalResult, written: ReadonlySet<string>, losses: Losses): void {
  dropOthers(result, [], written, 'no-field-here', losses)
  for (const [index, candidate] of result.candidates.entries())
    if (index > 0) losses.drop(['candidates', index], 'one-answer-only')
    else dropOthers(candidate, ['candidates', 0], CANDIDATE, 'no-field-here', losses)
}
