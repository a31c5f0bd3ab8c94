import type { Dialect } from '../writer.ts'

/**
 * The quirks of rerank upstreams; what is not declared follows Jina's format. What is declared holds for callers of the
 * same format, too: three vendors share it.
 */
export interface RerankDialect {
  /** What the number of ranks wanted is called: Voyage says `top_k`. */
  readonly top_field?: 'top_n' | 'top_k'
  /** `text`: documents are plain texts, never objects. */
  readonly documents?: 'any' | 'text'
}

export const FLAGS = ['top_field', 'documents'] as const

export const rerankDialect = (dialect: Dialect): RerankDialect => dialect as RerankDialect
