import type { Part } from '../../canonical/content.ts'
import { foreign, Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { kept } from '../fields.ts'
import { explanationIn, isForeignProof, stopDetails, writeAnswerPart } from './answer.ts'
import { printsLastBlock } from './client.ts'
import { type Block, FORMAT } from './content.ts'
import { writeStop } from './finish.ts'
import { ownBody } from './own-result.ts'
import { reportTier, writeUsage } from './usage.ts'

const NO_ANSWER: Candidate = { content: [] }

/** A whole answer as a `message` (FORMATS §6, §16.3). */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const own = ownBody(result)
  if (own !== undefined) return { wire: { status: 200, headers: {}, body: own }, losses: [] }
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  reportHead(result, request, losses)
  const candidate = result.candidates[0] ?? NO_ANSWER
  const stop = writeStop(candidate, endContentOf(candidate), losses)
  if (result.candidates.length === 0) reportNoAnswer(losses)
  const content = writeContent(candidate, printsLastBlock(request), losses)
  const body = {
    ...head(result, request),
    content,
    ...stop,
    ...explained(candidate),
    usage: writeUsage(result.usage, result.serviceTier, losses),
    ...kept(result, FORMAT),
  } as JsonObject
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

/** The fields every message begins with. */
export const head = ({ id = 'msg', model }: Head, request: CanonicalRequest): JsonObject => ({
  ...{ id, type: 'message', role: 'assistant' },
  model: model ?? request.model,
})

type Head = Pick<CanonicalResult, 'id' | 'model'>
const RESULT_LOSSES: Unwritten<
  CanonicalResult,
  'id' | 'model' | 'createdAt' | 'candidates' | 'usage' | 'serviceTier' | 'complete'
> = { task: 'no-tasks', error: 'no-error-beside-an-answer' }

function reportHead(result: CanonicalResult, request: CanonicalRequest, losses: Losses): void {
  if (result.createdAt !== undefined) losses.hide(['createdAt'], 'no-time-here')
  losses.dropFields(result, [], RESULT_LOSSES)
  reportTier(result.serviceTier, losses)
  if (result.id === undefined) losses.add(['id'], 'msg', 'minted-id')
  if (result.model === undefined) losses.add(['model'], request.model, 'model-required')
  for (let index = 1; index < result.candidates.length; index++) losses.drop(['candidates', index], 'one-answer-only')
  const candidate = result.candidates[0]
  if (candidate?.logprobs !== undefined) losses.drop(['candidates', 0, 'logprobs'], 'no-logprobs')
}

/** The format requires an answer, even an empty one. */
function reportNoAnswer(losses: Losses): void {
  const finish = losses.list.findLast(loss => loss.kind === 'added' && loss.path.at(-1) === 'finish')
  losses.list.splice(losses.list.indexOf(finish!), 1)
  losses.insert(['candidates', 0], { content: [], finish: { reason: 'stop' } }, 'one-answer-always')
}

const endContentOf = ({ content }: Candidate) => ({
  called: content.some(part => part.type === 'tool-call'),
  refused: content.some(part => part.type === 'refusal' && part.text !== ''),
})

function writeContent({ content }: Candidate, endsInText: boolean, losses: Losses): Block[] {
  const explanation = explanationIn(content)
  if (explanation?.cache !== undefined) losses.drop([...CONTENT, content.length - 1, 'cache'], 'no-cache-markers-here')
  const parts = explanation === undefined ? content : content.slice(0, -1)
  const blocks = parts.map((part, index) => writeAnswerPart(part, [...CONTENT, index], losses))
  return (endsInText ? withoutLastProofs(parts, blocks, losses) : blocks).filter(block => block !== undefined)
}

/** Proofs that nothing follows are withheld from a client that would print one as the last block. */
function withoutLastProofs(parts: readonly Part[], blocks: (Block | undefined)[], losses: Losses) {
  for (let index = blocks.length - 1; index >= 0; index--) {
    if (blocks[index] === undefined) continue
    if (!isForeignProof(parts[index]!)) break
    losses.drop([...CONTENT, index], 'no-proof-at-the-end')
    blocks[index] = undefined
  }
  return blocks
}

const CONTENT = ['candidates', 0, 'content']

function explained({ content }: Candidate): JsonObject {
  const explanation = explanationIn(content)
  return explanation === undefined ? {} : { stop_details: stopDetails(explanation) }
}
