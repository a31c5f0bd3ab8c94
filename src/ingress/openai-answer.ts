import type { Format, Json, JsonObject, Node } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Finish, FinishReason } from '../canonical/result.ts'
import { anyNumber, anyText, defined } from './fields.ts'

/**
 * The head of an answer of chat completions or text completions, or of one of its chunks
 * (docs/wire/mapping.md#answers).
 */
export const readHead = (wire: JsonObject) =>
  defined({
    id: anyText(wire['id']),
    model: anyText(wire['model']),
    createdAt: anyNumber(wire['created']),
    serviceTier: anyText(wire['service_tier']),
  })

/** The values of the format, those of its vendors, and those of other formats that proxies pass through. */
const FINISHES: { readonly [value: string]: FinishReason } = {
  ...of('stop', 'stop', 'eos', 'eos_token', 'end_turn', 'stop_sequence', 'complete', 'completed'),
  ...of('length', 'length', 'model_length', 'max_tokens', 'model_context_window_exceeded'),
  ...of('tool-calls', 'tool_calls', 'tool_call', 'tool_use', 'function_call'),
  ...of('refused', 'content_filter', 'safety', 'refusal', 'sensitive'),
  ...of('error', 'error', 'abort', 'network_error', 'insufficient_system_resource', 'malformed_function_call'),
  pause_turn: 'paused',
}

function of(reason: FinishReason, ...values: string[]): { [value: string]: FinishReason } {
  return Object.fromEntries(values.map(value => [value, reason]))
}

/** What an upstream's word for the end of an answer means. */
export function finishReasonOf(word: string): FinishReason {
  const known = word.toLowerCase()
  return Object.hasOwn(FINISHES, known) ? FINISHES[known]! : 'other'
}

/** vLLM's field of a choice beside `finish_reason`: the stop string that was met, the id of a stop token, or null. */
export const MET = 'stop_reason'

/**
 * The finish with the stop sequence that was met (trap 17), which upstreams of these formats name in `stop_reason` where
 * they name it (`ChatCompletionResponseChoice` of its server). A token's id is no sequence of text, and what
 * just repeats why the answer ended is none either, unless it was asked for.
 *
 * @returns undefined where none is named: the field is left to be an extra then.
 */
export function readStop(
  finish: Finish | undefined,
  met: Json | undefined,
  format: Format,
  { sampling }: CanonicalRequest,
): { readonly finish: Finish; readonly spelling: NonNullable<Node['spelling']> } | undefined {
  if (finish?.reason !== 'stop' || typeof met !== 'string' || met === '') return undefined
  if (finishReasonOf(met) !== 'other' && sampling.stop?.includes(met) !== true) return undefined
  return { finish: { ...finish, stopSequence: met }, spelling: { [format]: { [MET]: true } } }
}
