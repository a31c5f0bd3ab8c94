import type { CallIds } from '../../canonical/call-ids.ts'
import type { Part } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Candidate } from '../../canonical/result.ts'
import { spelt } from '../fields.ts'
import { aloneSignature, isBare, signedPart, writeAnswerPart, writeThought } from './answer.ts'
import { GroundingWriter, reportCitations } from './citations.ts'
import { FORMAT, inner, withExtras } from './fields.ts'
import { reportFinish, writeFinish } from './finish.ts'
import { reportLogprobs, writeLogprobs } from './logprobs.ts'
import { Slotted } from './proofs.ts'

export interface CandidateContext {
  readonly ids: CallIds
  /** The answer comes from an upstream of this same format. */
  readonly own: boolean
  readonly losses: Losses
}
const CANDIDATE_LOSSES: Unwritten<Candidate, 'content' | 'finish' | 'logprobs'> = { transcript: 'no-times' }

/** One candidate of a whole answer. */
export function writeCandidate(
  candidate: Candidate,
  index: number,
  { ids, own: isOwn, losses }: CandidateContext,
): JsonObject {
  const path: Path = ['candidates', index]
  const own = spelt(candidate, FORMAT)
  const refusal = refusalOf(candidate)
  const { parts, grounding } = writeParts(candidate, path, isOwn, losses)
  reportFinish(candidate, path, losses)
  losses.dropFields(candidate, path, CANDIDATE_LOSSES)
  reportIds(candidate, ids, path, losses)
  if (own['logprobsResult'] === undefined) reportLogprobs(candidate.logprobs, [...path, 'logprobs'], losses)
  const { logprobs } = candidate
  return withExtras(candidate, {
    index: own['index'] === 'absent' ? undefined : (own['index'] ?? index),
    content: own['content'] === 'absent' ? undefined : writeContent(candidate, parts),
    finishReason: writeFinish(candidate),
    finishMessage: refusal,
    groundingMetadata: own['groundingMetadata'] ?? (hasOwnGrounding(candidate) ? undefined : grounding.written()),
    logprobsResult: own['logprobsResult'] ?? (logprobs === undefined ? undefined : writeLogprobs(logprobs)),
  })
}

/** Calls that share an id get different ones when they are read (trap 6). */
function reportIds({ content }: Candidate, ids: CallIds, path: Path, losses: Losses): void {
  for (const [index, part] of content.entries()) {
    if (part.type !== 'tool-call') continue
    const rawId = spelt(inner(part, 'functionCall'), FORMAT)['id'] as 'absent' | { said: string } | undefined
    const id = ids.call(rawId === undefined ? part.id : rawId === 'absent' ? undefined : rawId.said, part.name)
    if (id !== part.id) losses.rename([...path, 'content', index, 'id'], id, 'id-made-unique')
  }
}

/** A refusal at the end of a refused answer is its finish message; elsewhere it is text. */
export function refusalOf({ content, finish }: Pick<Candidate, 'content' | 'finish'>): string | undefined {
  const last = content.at(-1)
  return finish?.reason === 'refused' && last !== undefined && isRefusal(last) ? last.text : undefined
}

export const isRefusal = (part: Part): part is Part & { readonly type: 'refusal' } =>
  part.type === 'refusal' && part.text !== '' && isBare(part)

/** The upstream's own grounding metadata is in the candidate's extras. */
export const hasOwnGrounding = (candidate: Pick<Candidate, 'extras'>): boolean =>
  candidate.extras?.[FORMAT]?.['groundingMetadata'] !== undefined

function writeContent(candidate: Candidate, parts: readonly JsonObject[]): JsonObject {
  const node = inner(candidate, 'content')
  const { role, parts: how } = spelt(node, FORMAT)
  return withExtras(node, {
    parts: how === 'absent' && parts.length === 0 ? undefined : parts,
    role: role === 'absent' ? undefined : (role ?? 'model'),
  })
}

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
