import type { MediaPart, Part, SearchResultPart } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { type JsonObject, unchangedWire } from '../../canonical/node.ts'
import { type Candidate, type Finish, impliedReason, type TokenLogprob } from '../../canonical/result.ts'
import { extrasFor, spellingFor } from '../fields.ts'
import { reportCitations } from '../openai-answer.ts'
import { isSearch } from '../searches.ts'
import { FORMAT, writeAnnotation } from './content.ts'
import { reportImage, writeImageCall } from './images.ts'
import {
  encryptedContent,
  FOREIGN_REASONING,
  stampAt,
  writeCall,
  writeMessageItem,
  writeReasoningItem,
} from './items.ts'
import { belongsTo, readSearchId, reportSearch, searchId, writeSearch } from './search.ts'

/* Code shared by unary and streamed responses: items, parts and the final state. */

/** Kind of item to which a part of an answer is written. `nowhere` if the format has no item for the part. */
type ItemKind = 'message' | 'reasoning' | 'call' | 'picture' | 'search' | 'item' | 'nowhere'

export function itemKindOf(part: Part): ItemKind {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return 'message'
    case 'reasoning':
      return 'reasoning'
    case 'tool-call':
      return 'call'
    case 'search-call':
    case 'search-result':
      return 'search'
    case 'opaque':
      if (part.format === FORMAT) return spellingFor(part, FORMAT)['in'] === undefined ? 'item' : 'message'
      return part.text === undefined ? 'nowhere' : 'message'
    case 'media':
      return part.kind === 'image' && part.source.type === 'base64' ? 'picture' : 'nowhere'
    default:
      return 'nowhere'
  }
}

/** Writes a part of a message, with its log probabilities. */
export function writeContent(part: Part, logprobs: readonly JsonObject[]): JsonObject {
  switch (part.type) {
    case 'text': {
      const annotations = part.annotations?.flatMap(one => writeAnnotation(one) ?? []) ?? []
      return { type: 'output_text', text: part.text, annotations, logprobs, ...extrasFor(part, FORMAT) }
    }
    case 'refusal':
      return { type: 'refusal', refusal: part.text, ...extrasFor(part, FORMAT) }
    case 'opaque':
      return part.format === FORMAT
        ? part.value
        : { type: 'output_text', text: part.text ?? '', annotations: [], logprobs }
    default:
      return {}
  }
}

/** Returns true if the part is written as a text, which may have log probabilities. */
export const hasLogprobs = (part: Part): boolean =>
  part.type === 'opaque' ? part.format !== FORMAT && part.text !== undefined : part.type === 'text'

/**
 * Writes the log probability of a token and, if reported, of its alternatives. `bytes` is required, so it is empty if
 * unknown.
 */
export const writeToken = (token: TokenLogprob): JsonObject =>
  unchangedWire<JsonObject>(token, FORMAT) ?? {
    ...writeAlternative(token),
    top_logprobs: token.top?.map(writeAlternative) ?? [],
    ...extrasFor(token, FORMAT),
  }

const writeAlternative = (token: TokenLogprob): JsonObject => ({
  token: token.token,
  logprob: token.logprob,
  bytes: token.bytes ?? [],
  ...extrasFor(token, FORMAT),
})

/** Reports fields of a part that this format lacks. */
function reportPart(part: Part, path: Path, losses: Losses): void {
  if (itemKindOf(part) === 'nowhere') {
    if (part.type !== 'opaque') losses.drop(path, 'no-such-content')
    return
  }
  if (part.type === 'opaque' || part.type === 'media') return
  if (isSearch(part)) return reportSearch(part, readSearchId(part), path, losses)
  if (part.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers-here')
  if (part.type === 'reasoning' && part.redacted !== undefined && part.signature === undefined)
    losses.drop([...path, 'redacted'], 'nothing-hidden')
  if (part.type === 'text') reportCitations(part, path, losses)
}

/** Reports empty lists of bytes, which mean unknown bytes in this format, because every token has bytes. */
function reportTokens(tokens: readonly TokenLogprob[], path: Path, losses: Losses): void {
  tokens.forEach((token, index) => {
    if (token.bytes?.length === 0) losses.drop([...path, index, 'bytes'], 'no-bytes')
    if (token.top !== undefined) reportTokens(token.top, [...path, index, 'top'], losses)
  })
}

/**
 * Writes the parts of a candidate as items of an answer. Adjacent texts and refusals become one message, a search and
 * its results become one call, and all log probabilities are put on the first text.
 *
 * @param base the base of generated ids.
 * @param last the status of the last item.
 */
export function writeItems(candidate: Candidate, base: string, last: string, path: Path, losses: Losses): JsonObject[] {
  const { content, logprobs } = candidate
  const loggedPart = content.find(hasLogprobs)
  if (logprobs !== undefined) {
    if (loggedPart === undefined) losses.drop([...path, 'logprobs'], 'no-text-they-belong-to')
    else reportTokens(logprobs, [...path, 'logprobs'], losses)
  }
  const tokens = logprobs?.map(writeToken) ?? []
  const items: Part[][] = []
  content.forEach((part, index) => {
    const kind = itemKindOf(part)
    reportPart(part, [...path, 'content', index], losses)
    if (kind === 'picture') reportImage(part as MediaPart, [...path, 'content', index], losses)
    if (kind === 'nowhere') return
    const before = items.at(-1)
    if (before !== undefined && sharesItem(part, before)) before.push(part)
    else items.push([part])
  })
  return items.map((parts, index) => {
    const status = index === items.length - 1 ? last : 'completed'
    const stamp = (prefix: string) => stampAt(prefix, base, index, status)
    const [part, next] = parts as [Part, Part?]
    if (part.type === 'reasoning') return writeReasoningItem(part, encryptedContent(part), stamp(FOREIGN_REASONING))
    if (part.type === 'media') return writeImageCall(part, stampAt('ig', base, index, 'completed'))
    if (part.type === 'tool-call') return writeCall(part, stamp(part.freeform ? 'ctc' : 'fc'))
    if (isSearch(part))
      return writeSearch(part, next as SearchResultPart | undefined, {
        id: searchId(part),
        status: 'completed',
      })
    if (part.type === 'opaque' && itemKindOf(part) === 'item') return part.value
    return writeMessageItem(
      parts.map(one => writeContent(one, one === loggedPart ? tokens : [])),
      stamp('msg'),
    )
  })
}

/** Returns true if a part belongs to the same item as the preceding parts. */
function sharesItem(part: Part, before: readonly Part[]): boolean {
  const first = before[0]!
  if (itemKindOf(part) === 'message') return itemKindOf(first) === 'message'
  return isSearch(part) && before.length === 1 && isSearch(first) && belongsTo(part, first)
}

/** Properties of an answer's content that determine its final state. */
export interface EndContent {
  called: boolean
  refused: boolean
}

/** Fields with the state of a response: running, completed, incomplete or failed. */
export type ResponseState = { readonly status: string; readonly incomplete_details: JsonObject | null }

const COMPLETED: ResponseState = { status: 'completed', incomplete_details: null }
export const FAILED: ResponseState = { status: 'failed', incomplete_details: null }
const incomplete = (reason: string): ResponseState => ({ status: 'incomplete', incomplete_details: { reason } })

/**
 * Returns the final state of an answer (docs/wire/mapping.md#finish-reasons, trap 14). An answer with a refusal counts
 * as completed.
 */
export function writeState(finish: Finish | undefined, content: EndContent): ResponseState {
  switch (finish?.reason) {
    case 'length':
      return incomplete('max_output_tokens')
    case 'refused':
      return content.refused && !content.called ? COMPLETED : incomplete('content_filter')
    case 'error':
      return FAILED
    default:
      return COMPLETED
  }
}

export const endContentOf = ({ content }: Candidate): EndContent => ({
  called: content.some(part => part.type === 'tool-call'),
  refused: content.some(part => part.type === 'refusal'),
})

/** Reports a loss if readers derive a different finish reason from the response. */
export function reportFinish({ finish }: Candidate, content: EndContent, path: Path, losses: Losses): void {
  const at = [...path, 'finish']
  if (finish === undefined) return losses.add(at, { reason: impliedReason(content) }, 'finish-required')
  if (finish.stopSequence !== undefined) losses.drop([...at, 'stopSequence'], 'no-stop-sequence')
  if (writeState(finish, content).status !== 'completed') return
  const reason = impliedReason(content)
  if (finish.reason !== reason) losses.change([...at, 'reason'], reason, 'no-such-finish')
}
