import { isObject, type Json, type JsonObject } from '../canonical/node.ts'

/** The dialect of a typical chat upstream other than OpenAI: no custom tools, no developer turns, no store. */
export const PLAIN_CHAT = { custom_tools: false, developer_role: false, store: false } as const satisfies JsonObject

/** The dialect of a responses upstream other than OpenAI: it stores nothing and takes only functions as tools. */
export const PLAIN_RESPONSES = {
  stateless: true,
  custom_tools: false,
  compaction: false,
  count: false,
} as const satisfies JsonObject

/**
 * The dialect of a messages upstream other than Anthropic: later additions to the format are missing (traps 38, 39,
 * 42).
 */
export const PLAIN_MESSAGES = {
  system_turns: false,
  thinking: 'budget',
  effort_while_off: false,
  cache: 'off',
  count: false,
} as const satisfies JsonObject

/** The allowed values of a flag, or its type. */
type Flag = readonly string[] | 'yes-or-no' | 'number' | 'text' | 'texts' | 'texts-by-name'

/**
 * The dialect flags that have an effect, with their allowed values; any other flag is ignored. docs/dialects.md
 * describes them for operators.
 */
export const DIALECT_FLAGS: ReadonlyMap<string, Flag> = new Map<string, Flag>([
  // chat; the responses writer also uses custom_tools and cache, and the messages writer uses cache with other values
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
  ['listed_output', 'number'],
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
  // embeddings; the contents writer also uses batch
  ['dimensions_field', ['dimensions', 'output_dimension']],
  ['encoding_field', ['encoding_format', 'embedding_type']],
  ['float_encoding', 'yes-or-no'],
  ['purpose_field', ['input_type', 'task']],
  ['image_input', 'yes-or-no'],
  ['end_user', 'yes-or-no'],
  ['batch', 'number'],
  // rerank; the cohere writer uses batch
  ['top_field', ['top_n', 'top_k']],
  ['documents', ['any', 'text']],
  // speech; the contents and elevenlabs writers also use voices
  ['voices', 'texts-by-name'],
  ['default_voice', 'text'],
  ['speech_events', 'yes-or-no'],
  // realtime
  ['naming', ['ga', 'beta']],
  ['layout', ['ga', 'beta', 'mixed']],
  ['item_done', 'yes-or-no'],
  // live; it also uses vertex, version, voices and default_voice
  ['resumption', 'yes-or-no'],
  ['audio_only', 'yes-or-no'],
  ['late_text', ['content', 'realtime']],
  // responses
  ['stateless', 'yes-or-no'],
  // work that the vendor lacks although the format has it
  ['compaction', 'yes-or-no'],
  ['count', 'yes-or-no'],
  // videos
  ['remix', 'yes-or-no'],
  ['references', ['any', 'files']],
  // transcriptions
  ['transcript_shapes', ['all', 'json', 'none']],
])

/** Whether a value is of a flag's type. */
const CHECKS: { readonly [S in Exclude<Flag, readonly string[]>]: (value: Json) => boolean } = {
  'yes-or-no': value => typeof value === 'boolean',
  number: value => typeof value === 'number',
  text: value => typeof value === 'string',
  texts: value => Array.isArray(value) && value.every(one => typeof one === 'string'),
  'texts-by-name': value => isObject(value) && Object.values(value).every(one => typeof one === 'string'),
}

/**
 * Describes the allowed values of a flag if the given value is not one of them; undefined for a valid value or an
 * unknown flag.
 */
export function expectedOf(flag: string, value: Json): string | undefined {
  const values = DIALECT_FLAGS.get(flag)
  if (values === undefined) return undefined
  if (typeof values !== 'string') return values.includes(value as string) ? undefined : values.join(' or ')
  return CHECKS[values](value) ? undefined : DESCRIPTIONS[values]
}

const DESCRIPTIONS: { readonly [S in Exclude<Flag, readonly string[]>]: string } = {
  'yes-or-no': 'true or false',
  number: 'a number',
  text: 'a text',
  texts: 'a list of texts',
  'texts-by-name': 'a map of texts',
}
