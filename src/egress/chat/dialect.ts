import type { Effort } from '../../canonical/request.ts'
import type { Dialect } from '../writer.ts'

/** The dialect flags of chat-completions upstreams; a flag that is not declared follows the public format. */
export interface ChatDialect {
  /**
   * Where reasoning of assistant turns is returned to the upstream: in a field, or as content parts (traps 35, 36).
   * Default none.
   */
  readonly reasoning_field?: 'reasoning_content' | 'reasoning' | 'parts' | 'none'
  /** The cache marker that the upstream understands. Default none. */
  readonly cache?: 'none' | 'cache_control' | 'prompt_cache_breakpoint'
  /** Whether tools of type `custom` are supported. Default true; otherwise a function is written. */
  readonly custom_tools?: boolean
  /** Whether the role `developer` is supported. Default true; otherwise `system` is written. */
  readonly developer_role?: boolean
  /** The field for the token limit. Default `max_completion_tokens`. */
  readonly limit_field?: 'max_completion_tokens' | 'max_tokens'
  /** Requests usage in every stream, even if the caller does not want it (trap 22). */
  readonly include_usage?: boolean
  /** `string`: the upstream takes text as one string, not as a list of parts. */
  readonly text_only_content?: 'parts' | 'string'
  /** Whether `response_format` may be `json_schema`. Default true; otherwise JSON is requested without the schema. */
  readonly json_schema?: boolean
  /** The field that requests reasoning. Default `reasoning_effort`. */
  readonly reasoning_as?: 'reasoning_effort' | 'reasoning' | 'thinking' | 'none'
  /** The supported efforts, weakest first; a reasoning budget is mapped to one of them. */
  readonly efforts?: readonly Effort[]
  /** Whether `store` is supported. Default true. */
  readonly store?: boolean
  /** `short`: the upstream accepts only call ids of nine letters and digits. */
  readonly call_ids?: 'any' | 'short'
  /** `assistant`: only an assistant message may follow a tool message. */
  readonly after_tools?: 'anyone' | 'assistant'
  /** Whether `video_url` parts are supported. */
  readonly video?: boolean
  /** Whether files are sent as `document_url` parts, by URL. */
  readonly document_url?: boolean
}

export const FLAGS = [
  ...['reasoning_field', 'cache', 'custom_tools', 'developer_role', 'limit_field', 'include_usage'],
  ...['text_only_content', 'json_schema', 'reasoning_as', 'store', 'call_ids', 'after_tools', 'video', 'document_url'],
  'efforts',
] as const

export const chatDialect = (dialect: Dialect): ChatDialect => dialect as ChatDialect
