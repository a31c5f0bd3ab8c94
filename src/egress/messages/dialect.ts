import type { Dialect } from '../writer.ts'

/**
 * The quirks of messages upstreams; what is not declared follows the public format. What an upstream is declared not
 * to take goes to it from nobody, its own format's callers included.
 */
export interface MessagesDialect {
  /** `none`: the upstream refuses temperature, top_p and top_k. */
  readonly sampling?: 'all' | 'none'
  /** The limit of an answer where the caller gives none; the format requires one. Default 4096. */
  readonly max_tokens?: number
  /** The version of the API; the caller's own, or 2023-06-01, where it is not declared. */
  readonly version?: string
  /** Takes turns of the role `system` among the messages. Default true; otherwise they are the user's. */
  readonly system_turns?: boolean
  /** How thinking is asked for: left to the model, by a budget (older models), or not at all. */
  readonly thinking?: 'adaptive' | 'budget' | 'none'
  /** Takes an effort beside thinking that is off (trap 39). Default true. */
  readonly effort_while_off?: boolean
}

export const FLAGS = ['sampling', 'max_tokens', 'version', 'system_turns', 'thinking', 'effort_while_off'] as const

export const messagesDialect = (dialect: Dialect): MessagesDialect => dialect as MessagesDialect
