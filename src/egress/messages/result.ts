import type { Part } from '../../canonical/content.ts'
import { foreignLosses, Losses, type Written } from '../../canonical/loss.ts'
import { type JsonObject, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import {
  type Candidate,
  type CanonicalResult,
  type EndContent,
  endContentOf,
  type Finish,
  type FinishReason,
  impliedReason,
} from '../../canonical/result.ts'
import type { WireAnswer, WireRequest } from '../../canonical/wire.ts'
import { extrasFor, spellingFor } from '../fields.ts'
import { nativeBodyOf } from '../native.ts'
import { NO_TASK } from '../sanitize/unwritten.ts'
import { countedTokens } from '../usage/input-usage.ts'
import { explanationIn, isUnprintable, stopDetails, writeAnswerPart } from './answer.ts'
import { type Block, FORMAT } from './context.ts'
import { reportTier, writeUsage } from './usage.ts'

/** Candidate to write if the result has none, because the format requires exactly one. */
const NO_ANSWER: Candidate = { content: [], finish: { reason: 'stop' } }

/** Writes a unary answer as a `message` or a token count (docs/wire/messages.md#response). */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  const body = request.output.count === true ? writeCounted(result, losses) : writeMessage(result, request, losses)
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

/** Writes a token count as `{input_tokens}`, which has neither id nor model. */
function writeCounted({ id: _id, model: _model, ...result }: CanonicalResult, losses: Losses): JsonObject {
  const native = nativeBodyOf(result, FORMAT)
  if (native !== undefined) return native
  losses.report(foreignLosses(result, FORMAT))
  return { input_tokens: countedTokens(result, losses), ...extrasFor(result, FORMAT) }
}

function writeMessage(result: CanonicalResult, request: CanonicalRequest, losses: Losses): JsonObject {
  const native = nativeBodyOf(result, FORMAT)
  if (native !== undefined) return native
  losses.report(foreignLosses(result, FORMAT))
  reportHead(result, request, losses)
  if (result.candidates.length === 0) losses.insert(['candidates', 0], NO_ANSWER, 'one-answer-always')
  const candidate = result.candidates[0] ?? NO_ANSWER
  const stop = writeStop(candidate, endContentOf(candidate), losses)
  const content = writeContent(candidate, printsLastBlock(request), losses)
  return {
    ...head(result, request),
    content,
    ...stop,
    ...stopDetailsOf(candidate),
    usage: writeUsage(result.usage, result.serviceTier, losses),
    ...extrasFor(result, FORMAT),
  } as JsonObject
}

/** Returns the fields with which every message begins. */
export const head = ({ id = 'msg', model }: Head, request: CanonicalRequest): JsonObject => ({
  ...{ id, type: 'message', role: 'assistant' },
  model: model ?? request.model,
})

type Head = Pick<CanonicalResult, 'id' | 'model'>

function reportHead(result: CanonicalResult, request: CanonicalRequest, losses: Losses): void {
  if (result.createdAt !== undefined) losses.dropRestored(['createdAt'], 'no-time-here')
  losses.dropFields(result, [], NO_TASK)
  reportTier(result.serviceTier, losses)
  if (result.id === undefined) losses.add(['id'], 'msg', 'minted-id')
  if (result.model === undefined) losses.add(['model'], request.model, 'model-required')
  for (let index = 1; index < result.candidates.length; index++) losses.drop(['candidates', index], 'one-answer-only')
  const candidate = result.candidates[0]
  if (candidate?.logprobs !== undefined) losses.drop(['candidates', 0, 'logprobs'], 'no-logprobs')
}

function writeContent({ content }: Candidate, endsInText: boolean, losses: Losses): Block[] {
  const explanation = explanationIn(content)
  if (explanation?.cache !== undefined)
    losses.drop([...CONTENT_PATH, content.length - 1, 'cache'], 'no-cache-markers-here')
  const parts = explanation === undefined ? content : content.slice(0, -1)
  const blocks = parts.map((part, index) => writeAnswerPart(part, [...CONTENT_PATH, index], losses))
  return (endsInText ? withoutUnprintable(parts, blocks, losses) : blocks).filter(block => block !== undefined)
}

/** Withholds signatures and searches at the end of the answer if the client would print them as the last block. */
function withoutUnprintable(parts: readonly Part[], blocks: (Block | undefined)[], losses: Losses) {
  for (let index = blocks.length - 1; index >= 0; index--) {
    if (blocks[index] === undefined) continue
    if (!isUnprintable(parts[index]!)) break
    losses.drop([...CONTENT_PATH, index], 'the-last-block-is-text')
    blocks[index] = undefined
  }
  return blocks
}

const CONTENT_PATH = ['candidates', 0, 'content']

function stopDetailsOf({ content }: Candidate): JsonObject {
  const explanation = explanationIn(content)
  return explanation === undefined ? {} : { stop_details: stopDetails(explanation) }
}

/** Prefix of Claude Code's beta names. */
const AGENT_BETA_PREFIX = 'claude-code-'

/**
 * Returns true if the caller prints only the last block of an answer, and nothing if that block is not text. Claude
 * Code and its SDK do this with `-p` (observed with 2.1.330 on 2026-11-22). They are recognised by their beta header or
 * billing block.
 */
export function printsLastBlock(request: CanonicalRequest): boolean {
  const headers = wireSourceOf<WireRequest>(request, FORMAT)?.wire.headers
  return (
    headers?.['anthropic-beta']?.includes(AGENT_BETA_PREFIX) === true ||
    spellingFor(request.messages[0], FORMAT)['billing'] !== undefined
  )
}

const STOP_REASONS: { readonly [R in FinishReason]?: string } = {
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  paused: 'pause_turn',
  refused: 'refusal',
}

/**
 * Returns a finish reason that this format can express. Calls (trap 13) and refusals (trap 16) determine the reason,
 * and an error must never look like a finished answer (trap 15).
 */
function supportedReason(reason: FinishReason, content: EndContent): FinishReason {
  if (reason === 'error') return 'refused'
  return reason === 'stop' || reason === 'other' ? impliedReason(content) : reason
}

/** Writes `stop_reason`, `stop_sequence` and `stop_details`. The gateway always writes all three. */
export function writeStop(candidate: Omit<Candidate, 'content'>, content: EndContent, losses: Losses): JsonObject {
  const { stop_details, ...others } = extrasFor(candidate, FORMAT)
  for (const field of Object.keys(others))
    losses.drop(['candidates', 0, 'extras', FORMAT, field], 'no-equivalent-field')
  const finish = candidate.finish ?? { reason: supportedReason('stop', content) }
  if (candidate.finish === undefined) losses.add(['candidates', 0, 'finish'], { ...finish }, 'reason-required')
  const reason = supportedReason(finish.reason, content)
  if (reason !== finish.reason) losses.change(['candidates', 0, 'finish', 'reason'], reason, 'no-such-finish')
  return {
    stop_reason: stopReasonOf({ ...finish, reason }),
    stop_sequence: finish.stopSequence ?? null,
    stop_details: stop_details ?? null,
  }
}

const stopReasonOf = ({ reason, stopSequence }: Finish): string =>
  STOP_REASONS[reason] ?? (stopSequence === undefined ? 'end_turn' : 'stop_sequence')
