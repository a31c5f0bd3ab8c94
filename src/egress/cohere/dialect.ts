import type { Dialect } from '../writer.ts'

/** The quirks of upstreams that speak Cohere's second version. */
export interface CohereDialect {
  /** The most inputs one request for vectors may have; more are split by the gateway. */
  readonly batch?: number
}

export const FLAGS = ['batch'] as const

export const cohereDialect = (dialect: Dialect): CohereDialect => dialect as CohereDialect
