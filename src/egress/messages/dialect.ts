import type { Effort } from '../../canonical/request.ts'
import type { Dialect } from '../writer.ts'

/**
 * The quirks of messages upstreams; what is not declared follows the public format. What an upstream is declared not
 * to take goes to it from nobody, its own format's callers included.
 */
export interface MessagesDialect {
  /** `none`: the upstream refuses temperature, top_p and top_k; `one`: it takes a temperature or a top_p. */
  readonly sampling?: 'all' | 'one' | 'none'
  /** The limit of an answer where the caller gives none; the format requires one. By default `max_output`, or 32,000. */
  readonly max_tokens?: number
  /** The most tokens the model answers with. */
  readonly max_output?: number
  /** The version of the API; the caller's own, or 2023-06-01, where it is not declared. */
  readonly version?: string
  /** Takes turns of the role `system` among the messages. Default true; otherwise they are the user's. */
  readonly system_turns?: boolean
  /** How thinking is asked for: left to the model, by a budget (older models), either (default), or not at all. */
  readonly thinking?: 'adaptive' | 'budget' | 'both' | 'none'
  /** How it is turned off: `disabled` (default), `between_tools`, or never, when the least effort is asked for. */
  readonly thinking_off?: 'disabled' | 'between_tools' | 'never'
  /** The efforts it takes, weakest first; all but `minimal` by default. */
  readonly efforts?: readonly Effort[]
  /** Takes an effort beside thinking that is off (trap 39). Default true. */
  readonly effort_while_off?: boolean
  /** Lets a tool be forced at all; while thinking by a budget none can be. Default true. */
  readonly forced_tools?: boolean
  /** Refuses the proof of a thought where anything before it changed. Default false. */
  readonly bound_proofs?: boolean
  /** Goes on with a last turn of the assistant. Default true; otherwise the user asks it to go on. */
  readonly prefill?: boolean
  /** `auto`: requests of callers who cannot mark what to cache are cached. Default off. */
  readonly cache?: 'auto' | 'off'
  /** Keeps conversations that requests go on with (trap 94). Default false. */
  readonly threads?: boolean
}

export const FLAGS = [
  ...['sampling', 'max_tokens', 'max_output', 'version', 'system_turns', 'thinking', 'thinking_off', 'efforts'],
  ...['effort_while_off', 'forced_tools', 'bound_proofs', 'prefill', 'cache', 'threads'],
] as const

export const messagesDialect = (dialect: Dialect): MessagesDialect => dialect as MessagesDialect
