import type { Effort } from '../../canonical/request.ts'
import type { Dialect } from '../writer.ts'

/** The quirks of chat-completions upstreams; flags that are not declared follow the public format. */
export interface ChatDialect {
  /** The field, or the parts, in which an assistant turn's reasoning is sent back to the upstream (traps 35, 36). */
  readonly reasoning_field?: 'reasoning_content' | 'reasoning' | 'parts' | 'none'
  /** The cache marker that the upstream obeys. */
  readonly cache?: 'none' | 'cache_control' | 'prompt_cache_breakpoint'
  /** Takes tools of type `custom`. Default true. */
  readonly custom_tools?: boolean
  /** Supports the role `developer`. Default true; otherwise `system` is written. */
  readonly developer_role?: boolean
  readonly limit_field?: 'max_completion_tokens' | 'max_tokens'
  /** Request usage in every stream, whether or not the caller wants it (trap 22). */
  readonly include_usage?: boolean
  /** `string`: the upstream takes no lists of text parts. */
  readonly text_only_content?: 'parts' | 'string'
  /** Takes `response_format` json_schema. Default true; otherwise JSON is requested without the schema. */
  readonly json_schema?: boolean
  readonly reasoning_as?: 'reasoning_effort' | 'reasoning' | 'thinking' | 'none'
  /** The supported efforts, weakest first: a budget becomes one of them. */
  readonly efforts?: readonly Effort[]
  /** Takes `store`. Default true. */
  readonly store?: boolean
  /** `short`: call ids have nine letters and digits. */
  readonly call_ids?: 'any' | 'short'
  /** `assistant`: only an assistant message may follow a tool message. */
  readonly after_tools?: 'anyone' | 'assistant'
  /** Takes `video_url` parts. */
  readonly video?: boolean
  /** Takes files by their URL, as `document_url` parts. */
  readonly document_url?: boolean
}

export const FLAGS = [
  ...['reasoning_field', 'cache', 'custom_tools', 'developer_role', 'limit_field', 'include_usage'],
  ...['text_only_content', 'json_schema', 'reasoning_as', 'store', 'call_ids', 'after_tools', 'video', 'document_url'],
  'efforts',
] as const

export const chatDialect = (dialect: Dialect): ChatDialect => dialect as ChatDialect
