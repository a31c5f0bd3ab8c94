import type { Effort } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { Dialect } from '../writer.ts'

/**
 * The dialect flags of messages upstreams; a flag that is not declared follows the public format. What the flags rule
 * out is never sent, not even for native callers.
 */
export interface MessagesDialect {
  /** `none`: the upstream refuses temperature, top_p and top_k; `one`: it takes temperature or top_p, but not both. */
  readonly sampling?: 'all' | 'one' | 'none'
  /**
   * Tokens; limit of an answer if the caller sets none, because the format requires one. Default `max_output`, else
   * `listed_output`, else 32,000.
   */
  readonly max_tokens?: number
  /** Tokens; the model's maximum output. */
  readonly max_output?: number
  /** Tokens; the model's maximum output as the catalogue lists it. Limits that callers set are not cut to it. */
  readonly listed_output?: number
  /** The version of the API. Default: the caller's version, else 2023-06-01. */
  readonly version?: string
  /**
   * Whether turns of the role `system` may stand among the messages. Default true; otherwise their role becomes `user`.
   */
  readonly system_turns?: boolean
  /** How thinking is requested: adaptive, by a budget (older models), either (default), or not at all. */
  readonly thinking?: 'adaptive' | 'budget' | 'both' | 'none'
  /**
   * How thinking is turned off: with `disabled` (default), with `between_tools`, or never; then the least effort is
   * requested instead.
   */
  readonly thinking_off?: 'disabled' | 'between_tools' | 'never'
  /** The supported efforts, weakest first. Default: all but `minimal`. */
  readonly efforts?: readonly Effort[]
  /** Whether an effort may be sent while thinking is off (trap 39). Default true. */
  readonly effort_while_off?: boolean
  /** Whether a tool can be forced; never together with a thinking budget. Default true. */
  readonly forced_tools?: boolean
  /** Whether a signature of reasoning is refused if anything before it has changed. Default false. */
  readonly bound_proofs?: boolean
  /**
   * Whether the model can continue a last turn of the assistant. Default true; otherwise a user turn asks it to
   * continue.
   */
  readonly prefill?: boolean
  /** `auto`: requests of callers that cannot set cache markers are cached. Default off. */
  readonly cache?: 'auto' | 'off'
  /** Whether the upstream stores conversations that later requests continue (trap 94). Default false. */
  readonly threads?: boolean
}

export const FLAGS = [
  ...['sampling', 'max_tokens', 'max_output', 'listed_output', 'version', 'system_turns', 'thinking', 'thinking_off'],
  ...['efforts', 'effort_while_off', 'forced_tools', 'bound_proofs', 'prefill', 'cache', 'threads'],
] as const

export const messagesDialect = (dialect: Dialect): MessagesDialect => dialect as MessagesDialect

/** The version of the API if neither the dialect nor the caller states one. */
const VERSION = '2023-06-01'

type Headers = WireRequest['headers']

/**
 * Writes the headers. The version is always sent; betas and other headers come only from callers of this format (trap
 * 79).
 */
export function writeHeaders(callerHeaders: Headers, dialect: MessagesDialect): Headers {
  const { 'msgfmt-version': service, ...headers } = callerHeaders
  return { ...headers, 'anthropic-version': dialect.version ?? headers['anthropic-version'] ?? service ?? VERSION }
}
