import type { Dialect } from '../writer.ts'

/** The quirks of responses upstreams; what is not declared follows the public format. */
export interface ResponsesDialect {
  /** Keeps no answers, and knows neither groups of tools nor proofs on request: the state is the gateway's own. */
  readonly stateless?: boolean
  /** Which cache marker the upstream obeys. */
  readonly cache?: 'none' | 'prompt_cache_breakpoint'
  /** Takes tools of type `custom`. Default true. */
  readonly custom_tools?: boolean
}

export const FLAGS = ['stateless', 'cache', 'custom_tools'] as const

export const responsesDialect = (dialect: Dialect): ResponsesDialect => dialect as ResponsesDialect
