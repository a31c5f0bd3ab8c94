import type { JsonObject } from '../canonical/node.ts'
import type { FinishReason } from '../canonical/result.ts'
import { anyNumber, anyText, defined } from './fields.ts'

/** The head of an answer of chat completions or text completions, or of one of its chunks (FORMATS §§2, 3). */
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
