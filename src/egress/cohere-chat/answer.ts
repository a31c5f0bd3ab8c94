import type { Part, ReasoningPart, ToolCallPart } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { EndContent, Finish, FinishReason, TokenLogprob } from '../../canonical/result.ts'
import { around, extrasFor, spellingFor } from '../fields.ts'
import { FORMAT } from './context.ts'

/* Code shared by unary and streamed answers. */

/** The field or block to which a part of an answer is written. */
export type Lane = 'plan' | 'text' | 'thinking' | 'block' | 'call' | 'opaque-call'

/** Returns the field or block to which a part is written, or undefined if the format cannot express the part. */
export function laneOf(part: Part): Lane | undefined {
  switch (part.type) {
    case 'text':
      return isPlan(part) ? 'plan' : 'text'
    case 'refusal':
      return 'text'
    case 'reasoning':
      return part.redacted ? undefined : 'thinking'
    case 'tool-call':
      return 'call'
    case 'opaque':
      if (part.format !== FORMAT) return part.text === undefined ? undefined : 'text'
      return spellingFor(part, FORMAT)['call'] === true ? 'opaque-call' : 'block'
    default:
      return undefined
  }
}

const isPlan = (part: Part): boolean =>
  spellingFor(part, FORMAT)['plan'] === true && Object.keys(extrasFor(part, FORMAT)).length === 0

const BARE_FIELDS = new Set(['type', 'format', 'text', 'spelling', 'cache'])

/** Returns true if a part has neither text nor other fields. Empty parts are not written. */
export const isEmpty = (part: Part): boolean =>
  'text' in part && part.text === '' && Object.keys(part).every(key => BARE_FIELDS.has(key))

/** Reports the losses of an answer's part: fields without a counterpart, and content that the format cannot express. */
export function reportPart(part: Part, path: Path, losses: Losses): void {
  if (part.type === 'opaque') return
  if (part.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers')
  if (part.type === 'refusal') losses.change(path, { type: 'text', text: part.text }, 'said-as-text')
  else if (part.type === 'reasoning') reportReasoning(part, path, losses)
  else if (part.type === 'tool-call') reportCall(part, path, losses)
  else if (laneOf(part) === undefined) losses.drop(path, 'no-such-content')
}

/** Reports hidden reasoning and signatures as dropped. The format has no field for either. */
export function reportReasoning({ text, signature, redacted }: ReasoningPart, path: Path, losses: Losses): void {
  if (redacted || (text === '' && signature !== undefined)) losses.drop(path, 'no-hidden-reasoning')
  else if (signature !== undefined) losses.drop([...path, 'signature'], 'no-signatures')
}

function reportCall(part: ToolCallPart, path: Path, losses: Losses): void {
  if (part.namespace !== undefined) losses.drop([...path, 'namespace'], 'no-namespaces')
  if (part.freeform === undefined) return
  losses.change([...path, 'arguments'], argumentsOf(part), 'wrapped-as-json')
  losses.drop([...path, 'freeform'], 'wrapped-as-json')
}

/** Returns a call's arguments. Empty arguments become `{}` (trap 8). A freeform call's text is wrapped in an object. */
export function argumentsOf(part: ToolCallPart): string {
  if (part.freeform) return JSON.stringify({ input: part.arguments })
  return part.arguments === '' ? '{}' : part.arguments
}

/** Returns a call with the given arguments. */
export const callWith = (part: ToolCallPart, argumentsText: string): JsonObject => ({
  id: part.id,
  ...around(FORMAT, part, 'function', { name: part.name, arguments: argumentsText }),
})

const FINISH_WORDS: { readonly [R in FinishReason]?: string } = {
  length: 'MAX_TOKENS',
  'tool-calls': 'TOOL_CALL',
  error: 'ERROR',
}

/** Writes the finish reason. The format has no field for the matched stop sequence. */
export function writeFinish(finish: Finish | undefined, { called }: EndContent, losses: Losses): string {
  const path = ['candidates', 0, 'finish']
  const impliedByContent = called ? 'tool-calls' : 'stop'
  const statedReason = finish?.reason ?? 'stop'
  const reason = FINISH_WORDS[statedReason] === undefined ? impliedByContent : statedReason
  if (finish === undefined) losses.add(path, { reason }, 'reason-required')
  else if (reason !== finish.reason) losses.change([...path, 'reason'], reason, 'no-such-finish')
  if (finish?.stopSequence !== undefined) losses.drop([...path, 'stopSequence'], 'no-stop-sequence')
  return FINISH_WORDS[reason] ?? (finish?.stopSequence === undefined ? 'COMPLETE' : 'STOP_SEQUENCE')
}

/** Writes the log probability of one token. */
export function writeLogprob({ token, logprob, ...node }: TokenLogprob): JsonObject {
  return { text: token, token_ids: [], logprobs: [logprob], ...extrasFor(node, FORMAT) }
}
