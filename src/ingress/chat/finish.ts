import type { Part } from '../../canonical/content.ts'
import type { Finish, FinishReason } from '../../canonical/result.ts'

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

const VALUES: { readonly [R in FinishReason]?: string } = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  refused: 'content_filter',
}

/** The value a writer would choose; another one is kept as spelling. */
export const wireValueOf = (reason: FinishReason): string | undefined => VALUES[reason]

/**
 * Where calls were made, they are the reason, whatever the upstream reports (trap 13); an answer without a reason has
 * simply stopped.
 */
export function readFinish(value: string | undefined, content: readonly Part[]): Finish {
  if (value === undefined || value === '') return { reason: stopped(content) }
  const known = value.toLowerCase()
  const reason = Object.hasOwn(FINISHES, known) ? FINISHES[known]! : 'other'
  return { reason: reason === 'stop' ? stopped(content) : reason, raw: value }
}

const stopped = (content: readonly Part[]): FinishReason =>
  content.some(part => part.type === 'tool-call') ? 'tool-calls' : 'stop'
