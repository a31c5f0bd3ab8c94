import type { Dialect } from '../writer.ts'

/**
 * Dialect flags of rerank upstreams; without a flag the upstream follows Jina's format. Flags apply to native callers
 * too, because three vendors share the format.
 */
export interface RerankDialect {
  /** The field for the number of ranks; Voyage calls it `top_k`. */
  readonly top_field?: 'top_n' | 'top_k'
  /** `text`: documents must be plain strings, never objects. */
  readonly documents?: 'any' | 'text'
}

export const FLAGS = ['top_field', 'documents'] as const

export const rerankDialect = (dialect: Dialect): RerankDialect => dialect as RerankDialect
