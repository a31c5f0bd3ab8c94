import type { Format, Json, JsonObject, Node } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Finish, FinishReason } from '../canonical/result.ts'
import { anyNumber, anyText, defined } from './fields.ts'

/** Reads the head of a chat or text completion, or of one of its chunks (docs/wire/mapping.md#answers). */
export const readHead = (wire: JsonObject) =>
  defined({
    id: anyText(wire['id']),
    model: anyText(wire['model']),
    createdAt: anyNumber(wire['created']),
    serviceTier: anyText(wire['service_tier']),
  })

/**
 * Finish reasons by wire value: OpenAI's, those of compatible vendors, and those of other formats that proxies pass on.
 */
const FINISHES: { readonly [value: string]: FinishReason } = {
  ...reasonEntries('stop', 'stop', 'eos', 'eos_token', 'end_turn', 'stop_sequence', 'complete', 'completed'),
  ...reasonEntries('length', 'length', 'model_length', 'max_tokens', 'model_context_window_exceeded'),
  ...reasonEntries('tool-calls', 'tool_calls', 'tool_call', 'tool_use', 'function_call'),
  ...reasonEntries('refused', 'content_filter', 'safety', 'refusal', 'sensitive'),
  ...reasonEntries(
    'error',
    'error',
    'abort',
    'network_error',
    'insufficient_system_resource',
    'malformed_function_call',
  ),
  pause_turn: 'paused',
}

function reasonEntries(reason: FinishReason, ...values: string[]): { [value: string]: FinishReason } {
  return Object.fromEntries(values.map(value => [value, reason]))
}

/** Returns the finish reason for an upstream's value, in any letter case, or `other` for an unknown value. */
export function finishReasonOf(word: string): FinishReason {
  const lowerCase = word.toLowerCase()
  return Object.hasOwn(FINISHES, lowerCase) ? FINISHES[lowerCase]! : 'other'
}

/** vLLM's additional field in a choice: the matched stop string, the id of a stop token, or null. */
export const STOP_REASON = 'stop_reason'

/**
 * Adds the matched stop sequence to a finish (trap 17). vLLM and compatible servers report the sequence in
 * `stop_reason` (`ChatCompletionResponseChoice` in vLLM's source). A token id is not a sequence. Neither is a repeated
 * finish reason, unless the caller requested that string as a stop sequence.
 *
 * @returns undefined if the field contains no sequence and therefore becomes an extra.
 */
export function readStop(
  finish: Finish | undefined,
  stop: Json | undefined,
  format: Format,
  { sampling }: CanonicalRequest,
): { readonly finish: Finish; readonly spelling: NonNullable<Node['spelling']> } | undefined {
  if (finish?.reason !== 'stop' || typeof stop !== 'string' || stop === '') return undefined
  if (finishReasonOf(stop) !== 'other' && sampling.stop?.includes(stop) !== true) return undefined
  return { finish: { ...finish, stopSequence: stop }, spelling: { [format]: { [STOP_REASON]: true } } }
}
