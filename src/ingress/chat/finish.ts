import type { Part } from '../../canonical/content.ts'
import type { Finish, FinishReason } from '../../canonical/result.ts'

/** The words of the format, those of its vendors, and those of other formats that shine through. */
const FINISHES: { readonly [word: string]: FinishReason } = {
  ...of('stop', 'stop', 'eos', 'eos_token', 'end_turn', 'stop_sequence', 'complete', 'completed'),
  ...of('length', 'length', 'model_length', 'max_tokens', 'model_context_window_exceeded'),
  ...of('tool-calls', 'tool_calls', 'tool_call', 'tool_use', 'function_call'),
  ...of('refused', 'content_filter', 'safety', 'refusal', 'sensitive'),
  ...of('error', 'error', 'abort', 'network_error', 'insufficient_system_resource', 'malformed_function_call'),
  pause_turn: 'paused',
}

function of(reason: FinishReason, ...words: string[]): { [word: string]: FinishReason } {
  return Object.fromEntries(words.map(word => [word, reason]))
}

const WORDS: { readonly [R in FinishReason]?: string } = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  refused: 'content_filter',
}

/** The word a writer would choose; another one is kept as spelling. */
export const wordOf = (reason: FinishReason): string | undefined => WORDS[reason]

/**
 * Calls were made, so they are why it stopped, whatever the upstream says (trap 13); an upstream that says nothing has
 * simply stopped.
 */
export function readFinish(word: string | undefined, content: readonly Part[]): Finish {
  if (word === undefined || word === '') return { reason: stopped(content) }
  const known = word.toLowerCase()
  const reason = Object.hasOwn(FINISHES, known) ? FINISHES[known]! : 'other'
  return { reason: reason === 'stop' ? stopped(content) : reason, raw: word }
}

const stopped = (content: readonly Part[]): FinishReason =>
  content.some(part => part.type === 'tool-call') ? 'tool-calls' : 'stop'
