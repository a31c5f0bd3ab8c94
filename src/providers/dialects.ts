import { isObject, type Json, type JsonObject } from '../canonical/node.ts'

/** What a chat upstream that is not OpenAI's own usually wants: no custom tools, no developer turns, no store. */
export const PLAIN_CHAT = { custom_tools: false, developer_role: false, store: false } as const satisfies JsonObject

/** A responses upstream that is not OpenAI's own: it keeps nothing, and takes functions only. */
export const PLAIN_RESPONSES = {
  stateless: true,
  custom_tools: false,
  compaction: false,
  count: false,
} as const satisfies JsonObject

/** A messages upstream that is not Anthropic's own: what came late to the format is not there (traps 38, 39, 42). */
export const PLAIN_MESSAGES = {
  system_turns: false,
  thinking: 'budget',
  effort_while_off: false,
  cache: 'off',
  count: false,
} as const satisfies JsonObject

/** The words a flag may be, or what sort of value it is. */
type Flag = readonly string[] | 'yes-or-no' | 'number' | 'text' | 'texts' | 'texts-by-name'

/**
 * The flags that are obeyed, with what each may be; a flag that is not here has no effect. What they mean is told to
 * operators in docs/dialects.md.
 */
export const DIALECT_FLAGS: ReadonlyMap<string, Flag> = new Map<string, Flag>([
  // chat; custom_tools and cache are the responses writer's, too, and cache with words of its own the messages writer's
  ['reasoning_field', ['reasoning_content', 'reasoning', 'parts', 'none']],
  ['reasoning_as', ['reasoning_effort', 'reasoning', 'thinking', 'none']],
  ['cache', ['none', 'cache_control', 'prompt_cache_breakpoint', 'auto', 'off']],
  ['custom_tools', 'yes-or-no'],
  ['developer_role', 'yes-or-no'],
  ['limit_field', ['max_completion_tokens', 'max_tokens']],
  ['include_usage', 'yes-or-no'],
  ['text_only_content', ['parts', 'string']],
  ['json_schema', 'yes-or-no'],
  ['store', 'yes-or-no'],
  ['call_ids', ['any', 'short']],
  ['after_tools', ['anyone', 'assistant']],
  ['video', 'yes-or-no'],
  ['document_url', 'yes-or-no'],
  // messages
  ['sampling', ['all', 'one', 'none']],
  ['max_tokens', 'number'],
  ['max_output', 'number'],
  ['version', 'text'],
  ['system_turns', 'yes-or-no'],
  ['thinking', ['adaptive', 'budget', 'both', 'none']],
  ['thinking_off', ['disabled', 'between_tools', 'never']],
  ['efforts', 'texts'],
  ['forced_tools', 'yes-or-no'],
  ['bound_proofs', 'yes-or-no'],
  ['prefill', 'yes-or-no'],
  ['threads', 'yes-or-no'],
  ['effort_while_off', 'yes-or-no'],
  // contents
  ['vertex', 'yes-or-no'],
  ['schema', ['json', 'openapi']],
  ['fetch_urls', 'yes-or-no'],
  // images
  ['edits', ['any', 'form', 'urls']],
  ['picture_urls', 'yes-or-no'],
  ['response_format', 'yes-or-no'],
  // embeddings; batch is the contents writer's, too
  ['dimensions_field', ['dimensions', 'output_dimension']],
  ['encoding_field', ['encoding_format', 'embedding_type']],
  ['float_encoding', 'yes-or-no'],
  ['purpose_field', ['input_type', 'task']],
  ['image_input', 'yes-or-no'],
  ['end_user', 'yes-or-no'],
  ['batch', 'number'],
  // rerank; batch is cohere's, too
  ['top_field', ['top_n', 'top_k']],
  ['documents', ['any', 'text']],
  // speech; voices are those of contents and elevenlabs, too
  ['voices', 'texts-by-name'],
  ['default_voice', 'text'],
  ['speech_events', 'yes-or-no'],
  // realtime
  ['naming', ['ga', 'beta']],
  ['layout', ['ga', 'beta', 'mixed']],
  ['item_done', 'yes-or-no'],
  // live; vertex, version, voices and default_voice are its own, too
  ['resumption', 'yes-or-no'],
  ['audio_only', 'yes-or-no'],
  ['late_text', ['content', 'realtime']],
  // responses
  ['stateless', 'yes-or-no'],
  // work the vendor lacks although the format has it
  ['compaction', 'yes-or-no'],
  ['count', 'yes-or-no'],
  // transcriptions
  ['transcript_shapes', ['all', 'json', 'none']],
])

const SORTS: { readonly [S in Exclude<Flag, readonly string[]>]: (value: Json) => boolean } = {
  'yes-or-no': value => typeof value === 'boolean',
  number: value => typeof value === 'number',
  text: value => typeof value === 'string',
  texts: value => Array.isArray(value) && value.every(one => typeof one === 'string'),
  'texts-by-name': value => isObject(value) && Object.values(value).every(one => typeof one === 'string'),
}

/** What a flag must be that is not what it may be; undefined for a good value, and for a flag nobody knows. */
export function expectedOf(flag: string, value: Json): string | undefined {
  const may = DIALECT_FLAGS.get(flag)
  if (may === undefined) return undefined
  if (typeof may !== 'string') return may.includes(value as string) ? undefined : may.join(' or ')
  return SORTS[may](value) ? undefined : WORDS[may]
}

const WORDS: { readonly [S in Exclude<Flag, readonly string[]>]: string } = {
  'yes-or-no': 'true or false',
  number: 'a number',
  text: 'a text',
  texts: 'a list of texts',
  'texts-by-name': 'a map of texts',
}
