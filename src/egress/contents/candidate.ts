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
import { spelt } from '../fields.ts'
import { NO_BYTES, NO_TIMES } from '../sanitize/bare.ts'
import { aloneSignature, givenId, isBare, signedPart, writeAnswerPart, writeThought } from './answer.ts'
import { GroundingWriter, reportCitations } from './citations.ts'
import { FORMAT, ownIn, ownOf, withOwn } from './fields.ts'
import { Slotted } from './proofs.ts'

/** What the candidates of one answer share. */
export interface CandidateContext {
  readonly ids: CallIds
  /** Whether the answer comes from an upstream of this format. */
  readonly own: boolean
  readonly losses: Losses
}

/** Writes one candidate of a whole answer. */
export function writeCandidate(
  candidate: Candidate,
  index: number,
  { ids, own: isOwn, losses }: CandidateContext,
): JsonObject {
  const path: Path = ['candidates', index]
  const own = ownOf(candidate)
  const { parts, grounding } = writeParts(candidate, path, isOwn, losses)
  reportFinish(candidate, path, losses)
  losses.dropFields(candidate, path, NO_TIMES)
  reportIds(candidate, ids, path, losses)
  const { logprobs } = candidate
  reportLogprobs(logprobs, [...path, 'logprobs'], losses)
  return withOwn(own, {
    index,
    content: withOwn(ownIn(own, 'content'), { parts, role: 'model' }),
    finishReason: writeFinish(candidate, endContentOf(candidate)),
    finishMessage: refusalOf(candidate),
    groundingMetadata: groundingOf(candidate, grounding),
    logprobsResult: logprobs && writeLogprobs(logprobs),
  })
}

/**
 * The grounding metadata: the original if the citations hold all of it, else metadata built from the citations;
 * undefined if the extras have it.
 */
export function groundingOf(candidate: Pick<Candidate, 'extras' | 'spelling'>, grounding: GroundingWriter) {
  const asItCame = spelt(candidate, FORMAT)['groundingMetadata'] as JsonObject | undefined
  if (asItCame !== undefined) return asItCame
  return ownOf(candidate)?.['groundingMetadata'] === undefined ? grounding.written() : undefined
}

/** Reports new ids for calls that share one, because a reader makes ids unique (trap 6). */
function reportIds({ content }: Candidate, ids: CallIds, path: Path, losses: Losses): void {
  for (const [index, part] of content.entries()) {
    if (part.type !== 'tool-call') continue
    const id = ids.call(givenId(part), part.name)
    if (id !== part.id) losses.rename([...path, 'content', index, 'id'], id, 'id-made-unique')
  }
}

/** The refusal at the end of a refused answer, which becomes the finish message; elsewhere a refusal is text. */
export function refusalOf(candidate: Candidate): string | undefined {
  const last = candidate.content.at(-1)
  return reasonOf(candidate, endContentOf(candidate)) === 'refused' && last !== undefined && isRefusal(last)
    ? last.text
    : undefined
}

type Ended = Pick<Candidate, 'finish' | 'spelling'>

/** The finish reason that this format can express: a refusal is one, whatever the upstream reports (trap 113). */
export function reasonOf({ finish, ...node }: Ended, content: EndContent): FinishReason {
  const reason = finish?.reason ?? 'stop'
  if (reason !== 'stop' || content.called || spelt(node, FORMAT)['finishReason'] !== undefined) return reason
  return impliedReason(content)
}

export const isRefusal = (part: Part): part is Part & { readonly type: 'refusal' } =>
  part.type === 'refusal' && part.text !== '' && isBare(part)

function writeParts(
  candidate: Candidate,
  path: Path,
  own: boolean,
  losses: Losses,
): { readonly parts: readonly JsonObject[]; readonly grounding: GroundingWriter } {
  const parts: JsonObject[] = []
  const grounding = new GroundingWriter()
  const slotted = new Slotted(own)
  const flush = (): void => {
    const signature = slotted.take()
    if (signature !== undefined) parts.push(aloneSignature(signature))
  }
  const content = refusalOf(candidate) === undefined ? candidate.content : candidate.content.slice(0, -1)
  for (const [index, part] of content.entries()) {
    const at = [...path, 'content', index]
    if (part.cache !== undefined) losses.drop([...at, 'cache'], 'no-cache-markers')
    if (part.type === 'reasoning') {
      const thought = writeThought(part, at, losses)
      if (thought.wire !== undefined && (slotted.full || thought.slotted === undefined)) flush()
      if (thought.wire !== undefined) parts.push(thought.wire)
      if (thought.slotted !== undefined) slotted.add(thought.slotted)
      continue
    }
    const wire = writeAnswerPart(part, at, losses)
    if (part.type === 'text') reportCitations(part.text, part.annotations, [...at, 'annotations'], losses)
    if (wire === undefined) continue
    if (typeof wire['text'] === 'string')
      grounding.add(wire['text'], part.type === 'text' ? part.annotations : undefined)
    if (wire['text'] === '') flush()
    parts.push(signedPart(part, wire, slotted.take()))
  }
  flush()
  return { parts, grounding }
}

/** Google's finish reasons; there is none for calls (docs/wire/contents.md#finish-reasons). */
const FINISH_REASONS: { readonly [R in FinishReason]: string } = {
  stop: 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  refused: 'SAFETY',
  paused: 'CONTINUATION',
  error: 'OTHER',
  other: 'FINISH_REASON_UNSPECIFIED',
}

/** The finish reason; undefined if the upstream gave none. */
function writeFinish(candidate: Ended, content: EndContent): string | undefined {
  const own = spelt(candidate, FORMAT)['finishReason']
  if (own === 'absent') return undefined
  if (typeof own === 'string') return own
  return FINISH_REASONS[reasonOf(candidate, content)]
}

/** The finish reason of a stream. It is required, because clients take a stream without one as cut off. */
export const writeStreamFinish = (candidate: Ended, content: EndContent): string =>
  writeFinish(candidate, content) ?? FINISH_REASONS.other

function reportFinish(candidate: Candidate, path: Path, losses: Losses): void {
  const { finish } = candidate
  const content = endContentOf(candidate)
  const stop = impliedReason(content)
  const own = spelt(candidate, FORMAT)
  if (own['finishReason'] !== undefined || own['blocked'] !== undefined) return
  if (finish === undefined) return losses.add([...path, 'finish'], { reason: stop }, 'finish-required')
  if (finish.stopSequence !== undefined) losses.drop([...path, 'finish', 'stopSequence'], 'no-stop-sequence')
  const reason = reasonOf(candidate, content)
  const read = FINISH_REASONS[reason] === 'STOP' ? impliedReason({ ...content, refused: false }) : reason
  if (read !== finish.reason) losses.change([...path, 'finish', 'reason'], read, 'finish-implied-by-content')
}

/** Writes the chosen tokens and, if any are reported, the most likely alternatives at each step. */
export function writeLogprobs(logprobs: readonly TokenLogprob[]): JsonObject {
  const rivals = logprobs.some(({ top }) => top !== undefined && top.length > 0)
  return {
    chosenCandidates: logprobs.map(writeToken),
    ...(rivals ? { topCandidates: logprobs.map(({ top }) => ({ candidates: (top ?? []).map(writeToken) })) } : {}),
  }
}

const writeToken = ({ token, logprob, ...node }: TokenLogprob): JsonObject =>
  withOwn(ownOf(node), { token, logProbability: logprob })

function reportLogprobs(logprobs: readonly TokenLogprob[] | undefined, path: Path, losses: Losses): void {
  logprobs?.forEach((token, index) => {
    losses.dropFields(token, [...path, index], NO_BYTES)
    reportLogprobs(token.top, [...path, index, 'top'], losses)
  })
}
