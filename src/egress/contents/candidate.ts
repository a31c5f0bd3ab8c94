import type { CallIds } from '../../canonical/call-ids.ts'
import type { Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import {
  type Candidate,
  type EndContent,
  endContentOf,
  type FinishReason,
  impliedReason,
  type TokenLogprob,
} from '../../canonical/result.ts'
import { spellingFor } from '../fields.ts'
import { NO_BYTES, NO_TIMES } from '../sanitize/unwritten.ts'
import { isSearch } from '../searches.ts'
import { isBare, loneSignaturePart, originalId, signedPart, writeAnswerPart, writeReasoning } from './answer.ts'
import { GroundingWriter, reportCitations } from './citations.ts'
import { FORMAT, nativeExtras, nestedExtras, withExtras } from './fields.ts'
import { PendingSignatures } from './pending-signatures.ts'
import { type LocatedText, reportSearches } from './search.ts'

/** State shared by the candidates of one answer. */
export interface CandidateContext {
  readonly ids: CallIds
  /** True if the answer comes from an upstream of this format. */
  readonly isNative: boolean
  readonly losses: Losses
}

/** Writes one candidate of a unary answer. */
export function writeCandidate(
  candidate: Candidate,
  index: number,
  { ids, isNative, losses }: CandidateContext,
): JsonObject {
  const path: Path = ['candidates', index]
  const extras = nativeExtras(candidate)
  const refusal = refusalOf(candidate)
  const end = candidate.content.length - (refusal === undefined ? 0 : 1)
  const { parts, grounding, lastText } = writeParts(candidate, end, path, isNative, losses)
  const groundingMetadata = groundingOf(candidate, grounding)
  if (!hasGrounding(candidate))
    reportSearches(candidate.content, end, grounding, lastText, [...path, 'content'], losses)
  reportFinish(candidate, path, losses)
  losses.dropFields(candidate, path, NO_TIMES)
  reportIds(candidate, ids, path, losses)
  const { logprobs } = candidate
  reportLogprobs(logprobs, [...path, 'logprobs'], losses)
  return withExtras(extras, {
    index,
    content: withExtras(nestedExtras(extras, 'content'), { parts, role: 'model' }),
    finishReason: writeFinish(candidate, endContentOf(candidate)),
    finishMessage: refusal,
    groundingMetadata,
    logprobsResult: logprobs && writeLogprobs(logprobs),
  })
}

/**
 * Returns the grounding metadata: the original if the citations cover it completely, otherwise metadata built from the
 * citations. Returns undefined if the extras already contain the metadata.
 */
export function groundingOf(candidate: Pick<Candidate, 'extras' | 'spelling'>, grounding: GroundingWriter) {
  const original = spellingFor(candidate, FORMAT)['groundingMetadata'] as JsonObject | undefined
  if (original !== undefined) return original
  return nativeExtras(candidate)?.['groundingMetadata'] === undefined ? grounding.written() : undefined
}

/** Returns true if the candidate was received with grounding metadata of this format, which includes its searches. */
const hasGrounding = (candidate: Candidate): boolean =>
  spellingFor(candidate, FORMAT)['groundingMetadata'] !== undefined ||
  nativeExtras(candidate)?.['groundingMetadata'] !== undefined

/** Reports new ids for calls that share an id, because readers make ids unique (trap 6). */
function reportIds({ content }: Candidate, ids: CallIds, path: Path, losses: Losses): void {
  for (const [index, part] of content.entries()) {
    if (part.type !== 'tool-call') continue
    const id = ids.call(originalId(part), part.name)
    if (id !== part.id) losses.changeRestored([...path, 'content', index, 'id'], id, 'id-made-unique')
  }
}

/**
 * Returns the refusal at the end of a refused answer. It becomes the finish message. Any other refusal is written as
 * text.
 */
export function refusalOf(candidate: Candidate): string | undefined {
  const last = candidate.content.at(-1)
  if (last === undefined || !isRefusal(last)) return undefined
  return reasonOf(candidate, endContentOf(candidate)) === 'refused' ? last.text : undefined
}

type CandidateOutcome = Pick<Candidate, 'finish' | 'spelling'>

/**
 * Returns a finish reason that this format can express. A refusal always has its own reason, whatever the upstream
 * reports (trap 113).
 */
export function reasonOf(candidate: CandidateOutcome, content: EndContent): FinishReason {
  const reason = candidate.finish?.reason ?? 'stop'
  if (reason !== 'stop' || content.called || spellingFor(candidate, FORMAT)['finishReason'] !== undefined) return reason
  return impliedReason(content)
}

export const isRefusal = (part: Part): part is Part & { readonly type: 'refusal' } =>
  part.type === 'refusal' && part.text !== '' && isBare(part)

interface WrittenParts {
  readonly parts: readonly JsonObject[]
  readonly grounding: GroundingWriter
  readonly lastText: LocatedText | undefined
}

/** @param end the index after the last part to write. */
function writeParts({ content }: Candidate, end: number, path: Path, isNative: boolean, losses: Losses): WrittenParts {
  const parts: JsonObject[] = []
  const grounding = new GroundingWriter()
  let lastText: LocatedText | undefined
  const pendingSignatures = new PendingSignatures(isNative)
  const flushSignature = (): void => {
    const signature = pendingSignatures.take()
    if (signature !== undefined) parts.push(loneSignaturePart(signature))
  }
  for (const [index, part] of content.slice(0, end).entries()) {
    const at = [...path, 'content', index]
    if (part.cache !== undefined) losses.drop([...at, 'cache'], 'no-cache-markers')
    if (part.type === 'reasoning') {
      const reasoning = writeReasoning(part, at, losses)
      if (reasoning.wire !== undefined && (pendingSignatures.isFull || reasoning.signsNext === undefined))
        flushSignature()
      if (reasoning.wire !== undefined) parts.push(reasoning.wire)
      if (reasoning.signsNext !== undefined) pendingSignatures.add(reasoning.signsNext)
      continue
    }
    if (isSearch(part)) {
      grounding.addSearch(part)
      continue
    }
    const wire = writeAnswerPart(part, at, losses)
    if (part.type === 'text') reportCitations(part.text, part.annotations, [...at, 'annotations'], losses)
    if (wire === undefined) continue
    if (typeof wire['text'] === 'string') {
      grounding.add(wire['text'], part.type === 'text' ? part.annotations : undefined)
      lastText = { part, path: at }
    }
    if (wire['text'] === '') flushSignature()
    parts.push(signedPart(part, wire, pendingSignatures.take()))
  }
  flushSignature()
  return { parts, grounding, lastText }
}

/** Google's finish reasons. The format has no reason for calls (docs/wire/contents.md#finish-reasons). */
const FINISH_REASONS: { readonly [R in FinishReason]: string } = {
  stop: 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  refused: 'SAFETY',
  paused: 'CONTINUATION',
  error: 'OTHER',
  other: 'FINISH_REASON_UNSPECIFIED',
}

/** Writes the finish reason. Returns undefined if the upstream did not state one. */
function writeFinish(candidate: CandidateOutcome, content: EndContent): string | undefined {
  const originalReason = spellingFor(candidate, FORMAT)['finishReason']
  if (originalReason === 'absent') return undefined
  if (typeof originalReason === 'string') return originalReason
  return FINISH_REASONS[reasonOf(candidate, content)]
}

/** Writes a stream's finish reason. Clients treat a stream without a finish reason as truncated. */
export const writeStreamFinish = (candidate: CandidateOutcome, content: EndContent): string =>
  writeFinish(candidate, content) ?? FINISH_REASONS.other

function reportFinish(candidate: Candidate, path: Path, losses: Losses): void {
  const { finish } = candidate
  const content = endContentOf(candidate)
  const defaultReason = impliedReason(content)
  const spelling = spellingFor(candidate, FORMAT)
  if (spelling['finishReason'] !== undefined || spelling['blocked'] !== undefined) return
  if (finish === undefined) return losses.add([...path, 'finish'], { reason: defaultReason }, 'finish-required')
  if (finish.stopSequence !== undefined) losses.drop([...path, 'finish', 'stopSequence'], 'no-stop-sequence')
  const reason = reasonOf(candidate, content)
  const readReason = FINISH_REASONS[reason] === 'STOP' ? impliedReason({ ...content, refused: false }) : reason
  if (readReason !== finish.reason)
    losses.change([...path, 'finish', 'reason'], readReason, 'finish-implied-by-content')
}

/** Writes the chosen tokens and, if alternatives are reported, the most likely tokens at each step. */
export function writeLogprobs(logprobs: readonly TokenLogprob[]): JsonObject {
  const hasAlternatives = logprobs.some(({ top }) => top !== undefined && top.length > 0)
  return {
    chosenCandidates: logprobs.map(writeToken),
    ...(hasAlternatives
      ? { topCandidates: logprobs.map(({ top }) => ({ candidates: (top ?? []).map(writeToken) })) }
      : {}),
  }
}

const writeToken = ({ token, logprob, ...node }: TokenLogprob): JsonObject =>
  withExtras(nativeExtras(node), { token, logProbability: logprob })

function reportLogprobs(logprobs: readonly TokenLogprob[] | undefined, path: Path, losses: Losses): void {
  logprobs?.forEach((token, index) => {
    losses.dropFields(token, [...path, index], NO_BYTES)
    reportLogprobs(token.top, [...path, index, 'top'], losses)
  })
}
