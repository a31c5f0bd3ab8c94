import type { Effort } from '../../canonical/request.ts'
import type { Dialect } from '../writer.ts'

/** The quirks of responses upstreams; flags that are not declared follow the public format. */
export interface ResponsesDialect {
  /** Stores no answers, and supports neither tool groups nor proofs on request: the gateway keeps the state. */
  readonly stateless?: boolean
  /** The cache marker that the upstream obeys. */
  readonly cache?: 'none' | 'prompt_cache_breakpoint'
  /** Takes tools of type `custom`. Default true. */
  readonly custom_tools?: boolean
  /** The supported efforts, weakest first: a budget becomes one of them. */
  readonly efforts?: readonly Effort[]
}

export const FLAGS = ['stateless', 'cache', 'custom_tools', 'efforts'] as const

export const responsesDialect = (dialect: Dialect): ResponsesDialect => dialect as ResponsesDialect
