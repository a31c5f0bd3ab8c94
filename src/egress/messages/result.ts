import type { Part } from '../../canonical/content.ts'
import { foreign, Losses, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { kept, spelt } from '../fields.ts'
import { type AnswerContext, explanationIn, isLoneProof, stopDetails, writeAnswerPart } from './answer.ts'
import { printsLastBlock } from './client.ts'
import { type Block, FORMAT } from './content.ts'
import { writeStop } from './finish.ts'
import { reportTier, writeUsage } from './usage.ts'

const NO_ANSWER: Candidate = { content: [] }

/** A whole answer as a `message` (FORMATS §6, §16.3). */
export function writeResult(result: CanonicalResult, asked: CanonicalRequest): Written<WireAnswer> {
  const spelling = spelt(result, FORMAT)
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  reportHead(result, asked, losses)
  const context: AnswerContext = { own: spelling['own'] === true, losses }
  const candidate = result.candidates[0] ?? NO_ANSWER
  const stop = writeStop(candidate, saidIn(candidate), losses)
  if (result.candidates.length === 0) reportNoAnswer(losses)
  const content = writeContent(candidate, printsLastBlock(asked), context)
  const body = {
    ...head(result, asked),
    content: spelling['content'] === 'string' && content.length === 1 ? content[0]!['text'] : content,
    ...stop,
    ...explained(candidate),
    ...(context.own && result.usage === undefined
      ? {}
      : { usage: writeUsage(result.usage, result.serviceTier, losses) }),
    ...kept(result, FORMAT),
  } as JsonObject
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

/** What every message begins with; oddities of an upstream's own come as they came. */
export function head(result: Omit<CanonicalResult, 'candidates'>, asked: CanonicalRequest): JsonObject {
  const { own, type = 'message', role = 'assistant' } = spelt(result, FORMAT)
  return {
    ...(own === true && result.id === undefined ? {} : { id: result.id ?? 'msg' }),
    ...(type === 'absent' ? {} : { type }),
    ...(role === 'absent' ? {} : { role }),
    ...(own === true && result.model === undefined ? {} : { model: result.model ?? asked.model }),
  }
}

function reportHead(result: CanonicalResult, asked: CanonicalRequest, losses: Losses): void {
  if (result.createdAt !== undefined) losses.hide(['createdAt'], 'no-time-here')
  losses.dropFields(result, [], { task: 'no-tasks', error: 'no-error-beside-an-answer' })
  reportTier(result.serviceTier, losses)
  const own = spelt(result, FORMAT)['own'] === true
  if (result.id === undefined && !own) losses.add(['id'], 'msg', 'minted-id')
  if (result.model === undefined && !own) losses.add(['model'], asked.model, 'model-required')
  for (let index = 1; index < result.candidates.length; index++) losses.drop(['candidates', index], 'one-answer-only')
  const candidate = result.candidates[0]
  if (candidate?.logprobs !== undefined) losses.drop(['candidates', 0, 'logprobs'], 'no-logprobs')
}

/** There is always an answer here, be it an empty one. */
function reportNoAnswer(losses: Losses): void {
  const finish = losses.list.findLast(loss => loss.kind === 'added' && loss.path.at(-1) === 'finish')
  losses.list.splice(losses.list.indexOf(finish!), 1)
  losses.insert(['candidates', 0], { content: [], finish: { reason: 'stop' } }, 'one-answer-always')
}

const saidIn = ({ content }: Candidate) => ({
  called: content.some(part => part.type === 'tool-call'),
  refused: content.some(part => part.type === 'refusal' && part.text !== ''),
})

function writeContent({ content }: Candidate, endsInWords: boolean, context: AnswerContext): Block[] {
  const told = explanationIn(content)
  if (told?.cache !== undefined) context.losses.drop([...CONTENT, content.length - 1, 'cache'], 'no-cache-markers-here')
  const said = told === undefined ? content : content.slice(0, -1)
  const blocks = said.map((part, index) => writeAnswerPart(part, [...CONTENT, index], context))
  return (endsInWords ? withoutLastProofs(said, blocks, context.losses) : blocks).filter(block => block !== undefined)
}

/** Proofs that nothing follows are not told to a client that would take one for the last words. */
function withoutLastProofs(said: readonly Part[], blocks: (Block | undefined)[], losses: Losses) {
  for (let index = blocks.length - 1; index >= 0; index--) {
    if (blocks[index] === undefined) continue
    if (!isLoneProof(said[index]!)) break
    losses.drop([...CONTENT, index], 'no-proof-at-the-end')
    blocks[index] = undefined
  }
  return blocks
}

const CONTENT = ['candidates', 0, 'content']

function explained({ content }: Candidate): JsonObject {
  const told = explanationIn(content)
  return told === undefined ? {} : { stop_details: stopDetails(told) }
}
