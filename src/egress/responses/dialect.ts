import type { Effort } from '../../canonical/request.ts'
import type { Dialect } from '../writer.ts'

/** The dialect flags of responses upstreams; a flag that is not declared follows the public format. */
export interface ResponsesDialect {
  /**
   * Whether the upstream stores no answers and supports neither tool groups nor signatures on request; the gateway then
   * stores the state.
   */
  readonly stateless?: boolean
  /** The cache marker that the upstream understands. Default none. */
  readonly cache?: 'none' | 'prompt_cache_breakpoint'
  /** Whether tools of type `custom` are supported. Default true; otherwise a function is written. */
  readonly custom_tools?: boolean
  /** The supported efforts, weakest first; a reasoning budget is mapped to one of them. */
  readonly efforts?: readonly Effort[]
}

export const FLAGS = ['stateless', 'cache', 'custom_tools', 'efforts'] as const

export const responsesDialect = (dialect: Dialect): ResponsesDialect => dialect as ResponsesDialect
