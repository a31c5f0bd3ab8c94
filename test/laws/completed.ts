import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'

/** Fields that answers of responses always have. An upstream may leave them out, or send null. */
const ALWAYS: { readonly [path: string]: readonly string[] } = {
  '': [
    ...['id', 'object', 'created_at', 'completed_at', 'status', 'incomplete_details', 'model', 'previous_response_id'],
    ...['instructions', 'error', 'tools', 'tool_choice', 'truncation', 'parallel_tool_calls', 'text', 'reasoning'],
    ...['top_p', 'presence_penalty', 'frequency_penalty', 'top_logprobs', 'temperature', 'usage', 'max_output_tokens'],
    ...['max_tool_calls', 'store', 'background', 'service_tier', 'metadata', 'safety_identifier', 'prompt_cache_key'],
    'user',
  ],
  text: ['format'],
  reasoning: ['effort', 'summary'],
  'tools/#': ['description', 'parameters', 'strict'],
  usage: ['input_tokens', 'input_tokens_details', 'output_tokens', 'output_tokens_details', 'total_tokens'],
  'usage/input_tokens_details': ['cached_tokens'],
  'usage/output_tokens_details': ['reasoning_tokens'],
  'output/#': ['id', 'status', 'type', 'role', 'content', 'summary', 'call_id', 'arguments', 'input', 'result'],
  'output/#/content/#': ['annotations', 'logprobs', 'refusal'],
  'output/#/content/#/logprobs/#': ['bytes', 'top_logprobs'],
  'output/#/content/#/logprobs/#/top_logprobs/#': ['bytes'],
}

/** Returns an answer without added fields that `said` lacks. All other differences remain. */
export function asSaid(got: Json | undefined, said: Json | undefined, path = ''): Json | undefined {
  const inner = (key: string) => (path === '' ? key : `${path}/${key}`)
  if (Array.isArray(got) && Array.isArray(said)) return got.map((one, at) => asSaid(one, said[at], inner('#'))!)
  if (!isObject(got) || !isObject(said)) return got
  const may = ALWAYS[path] ?? []
  const kept = Object.entries(got).filter(([key]) => said[key] !== undefined || !may.includes(key))
  const value = (key: string, one: Json) =>
    said[key] === null && may.includes(key) ? null : asSaid(one, said[key], inner(key))
  return Object.fromEntries(kept.map(([key, one]) => [key, value(key, one)])) as JsonObject
}
