import type { Effort } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { Dialect } from '../writer.ts'

/**
 * The quirks of messages upstreams; flags that are not declared follow the public format. What an upstream is declared
 * not to take is never sent to it, not even for native callers.
 */
export interface MessagesDialect {
  /** `none`: the upstream refuses temperature, top_p and top_k; `one`: it takes a temperature or a top_p. */
  readonly sampling?: 'all' | 'one' | 'none'
  /**
   * The limit of an answer where the caller sets none; the format requires one. By default `max_output`, else
   * `listed_output`, else 32,000.
   */
  readonly max_tokens?: number
  /** The model's maximum number of output tokens. */
  readonly max_output?: number
  /** That number as the catalogue lists it: callers' own limits are not held to it. */
  readonly listed_output?: number
  /** The version of the API; the caller's own, or 2023-06-01, where it is not declared. */
  readonly version?: string
  /** Takes turns of the role `system` among the messages. Default true; otherwise their role is `user`. */
  readonly system_turns?: boolean
  /** How thinking is requested: adaptive, by a budget (older models), either (default), or not at all. */
  readonly thinking?: 'adaptive' | 'budget' | 'both' | 'none'
  /**
   * How thinking is turned off: `disabled` (default), `between_tools`, or never, when the least effort is requested
   * instead.
   */
  readonly thinking_off?: 'disabled' | 'between_tools' | 'never'
  /** The supported efforts, weakest first; all but `minimal` by default. */
  readonly efforts?: readonly Effort[]
  /** Takes an effort beside thinking that is off (trap 39). Default true. */
  readonly effort_while_off?: boolean
  /** Supports forcing a tool at all; with a thinking budget none can be forced. Default true. */
  readonly forced_tools?: boolean
  /** Refuses the proof of a thought if anything before it changed. Default false. */
  readonly bound_proofs?: boolean
  /** Continues a last turn of the assistant. Default true; otherwise a user turn asks it to continue. */
  readonly prefill?: boolean
  /** `auto`: requests of callers that cannot set cache markers are cached. Default off. */
  readonly cache?: 'auto' | 'off'
  /** Stores conversations that requests continue (trap 94). Default false. */
  readonly threads?: boolean
}

export const FLAGS = [
  ...['sampling', 'max_tokens', 'max_output', 'listed_output', 'version', 'system_turns', 'thinking', 'thinking_off'],
  ...['efforts', 'effort_while_off', 'forced_tools', 'bound_proofs', 'prefill', 'cache', 'threads'],
] as const

export const messagesDialect = (dialect: Dialect): MessagesDialect => dialect as MessagesDialect

const VERSION = '2023-06-01'

type Headers = WireRequest['headers']

/** The version is always sent; betas and other headers are the caller's own, for its own format only (trap 79). */
export function writeHeaders(own: Headers, dialect: MessagesDialect): Headers {
  const { 'msgfmt-version': service, ...headers } = own
  return { ...headers, 'anthropic-version': dialect.version ?? headers['anthropic-version'] ?? service ?? VERSION }
}
