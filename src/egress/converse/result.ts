import { foreignLosses, Losses, type Written } from '../../canonical/loss.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import {
  type Candidate,
  type CanonicalResult,
  type EndContent,
  endContentOf,
  type FinishReason,
  impliedReason,
} from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { extrasFor } from '../fields.ts'
import { nativeBodyOf } from '../native.ts'
import { NO_TASK, NO_TIMES } from '../sanitize/unwritten.ts'
import { countedTokens } from '../usage/input-usage.ts'
import { writeAnswerPart } from './answer.ts'
import { type Block, FORMAT } from './context.ts'
import { writeUsage } from './usage.ts'

const NO_ANSWER: Candidate = { content: [] }

/** Writes a unary answer (docs/wire/converse.md#answer). */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  const body = request.output.count === true ? writeCounted(result, losses) : writeMessage(result, losses)
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

function writeCounted({ id: _id, model: _model, ...result }: CanonicalResult, losses: Losses): JsonObject {
  const native = nativeBodyOf(result, FORMAT, NATIVE_HEAD)
  if (native !== undefined) return native
  losses.report(foreignLosses(result, FORMAT))
  return { inputTokens: countedTokens(result, losses), ...extrasFor(result, FORMAT) }
}

/** Converse answers carry no id or model, so head fields are optional when a native body is reused. */
const NATIVE_HEAD = { optional: true } as const

function writeMessage(result: CanonicalResult, losses: Losses): JsonObject {
  const native = nativeBodyOf(result, FORMAT, NATIVE_HEAD)
  if (native !== undefined) return native
  losses.report(foreignLosses(result, FORMAT))
  reportHead(result, losses)
  if (result.candidates.length === 0) losses.insert(['candidates', 0], NO_ANSWER, 'one-answer-always')
  const candidate = result.candidates[0] ?? NO_ANSWER
  const { output, ...extras } = extrasFor(result, FORMAT)
  return {
    output: {
      message: { role: 'assistant', content: writeContent(candidate, losses), ...extrasFor(candidate, FORMAT) },
      ...(output as JsonObject | undefined),
    },
    stopReason: writeStop(candidate, endContentOf(candidate), losses),
    usage: writeUsage(result.usage, losses),
    metrics: NO_METRICS,
    ...(defined({ serviceTier: tierOf(result) }) as JsonObject),
    ...extras,
  }
}

/** Metrics with a latency of zero, because clients' types require one. */
export const NO_METRICS = { latencyMs: 0 }

export const tierOf = ({ serviceTier }: Pick<CanonicalResult, 'serviceTier'>): JsonObject | undefined =>
  serviceTier === undefined ? undefined : { type: serviceTier }

function reportHead(result: CanonicalResult, losses: Losses): void {
  for (const field of ['id', 'model', 'createdAt'] as const)
    if (result[field] !== undefined) losses.dropRestored([field], 'not-in-answers')
  losses.dropFields(result, [], NO_TASK)
  for (let index = 1; index < result.candidates.length; index++) losses.drop(['candidates', index], 'one-answer-only')
  losses.dropFields(result.candidates[0], ['candidates', 0], { logprobs: 'no-logprobs', ...NO_TIMES })
}

const writeContent = ({ content }: Candidate, losses: Losses): readonly Block[] =>
  content
    .map((part, index) => writeAnswerPart(part, ['candidates', 0, 'content', index], losses))
    .filter(block => block !== undefined)

const STOP_REASONS: { readonly [R in FinishReason]?: string } = {
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  refused: 'content_filtered',
  error: 'malformed_model_output',
}

/** Writes the stop reason. The format has no field for the matched stop sequence. */
export function writeStop(candidate: Omit<Candidate, 'content'>, content: EndContent, losses: Losses): string {
  const { finish } = candidate
  const path = ['candidates', 0, 'finish']
  const reason = supportedReason(finish?.reason ?? 'stop', content)
  if (finish === undefined) losses.add(path, { reason }, 'reason-required')
  else if (reason !== finish.reason) losses.change([...path, 'reason'], reason, 'no-such-finish')
  if (finish?.stopSequence !== undefined) losses.drop([...path, 'stopSequence'], 'no-stop-sequence')
  return STOP_REASONS[reason] ?? (finish?.stopSequence === undefined ? 'end_turn' : 'stop_sequence')
}

/** Returns a finish reason that this format can express. Calls and refusals determine the reason (traps 13, 16). */
const supportedReason = (reason: FinishReason, content: EndContent): FinishReason =>
  reason === 'stop' || reason === 'other' || reason === 'paused' ? impliedReason(content) : reason
