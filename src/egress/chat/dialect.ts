import type { Dialect } from '../writer.ts'

/** The quirks of chat-completions upstreams; what is not declared follows the public format. */
export interface ChatDialect {
  /** Under which name, or as which parts, an assistant turn's reasoning goes back to the upstream (traps 35, 36). */
  readonly reasoning_field?: 'reasoning_content' | 'reasoning' | 'parts' | 'none'
  /** Which of the two cache markers the upstream obeys. */
  readonly cache?: 'none' | 'cache_control' | 'prompt_cache_breakpoint'
  /** Takes tools of type `custom`. Default true. */
  readonly custom_tools?: boolean
  /** Knows the role `developer`. Default true; otherwise `system` is written. */
  readonly developer_role?: boolean
  readonly limit_field?: 'max_completion_tokens' | 'max_tokens'
  /** Ask for usage in every stream, wanted by the caller or not (trap 22). */
  readonly include_usage?: boolean
  /** `string`: the upstream takes no lists of text parts. */
  readonly text_only_content?: 'parts' | 'string'
  /** Takes `response_format` json_schema. Default true; otherwise JSON is asked for without the schema. */
  readonly json_schema?: boolean
  readonly reasoning_as?: 'reasoning_effort' | 'reasoning' | 'thinking' | 'none'
  /** Takes `store`. Default true. */
  readonly store?: boolean
  /** `short`: ids of calls have nine letters and digits. */
  readonly call_ids?: 'any' | 'short'
  /** `assistant`: only the assistant may speak after a tool. */
  readonly after_tools?: 'anyone' | 'assistant'
  /** Takes `video_url` parts. */
  readonly video?: boolean
  /** Takes files by their address, as `document_url` parts. */
  readonly document_url?: boolean
}

export const FLAGS = [
  ...['reasoning_field', 'cache', 'custom_tools', 'developer_role', 'limit_field', 'include_usage'],
  ...['text_only_content', 'json_schema', 'reasoning_as', 'store', 'call_ids', 'after_tools', 'video', 'document_url'],
] as const

export const chatDialect = (dialect: Dialect): ChatDialect => dialect as ChatDialect
