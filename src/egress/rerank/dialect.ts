import type { Dialect } from '../writer.ts'

/**
 * The quirks of rerank upstreams; flags that are not declared follow Jina's format. Declared ones apply to native
 * callers, too: three vendors share the format.
 */
export interface RerankDialect {
  /** The field for the number of ranks: Voyage's is `top_k`. */
  readonly top_field?: 'top_n' | 'top_k'
  /** `text`: documents are plain texts, never objects. */
  readonly documents?: 'any' | 'text'
}

export const FLAGS = ['top_field', 'documents'] as const

export const rerankDialect = (dialect: Dialect): RerankDialect => dialect as RerankDialect
