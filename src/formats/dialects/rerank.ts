import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'

/**
 * Dialect flags of rerank upstreams. The defaults describe Jina's format. Flags also apply to native callers, because
 * three vendors share the format.
 */
export const FLAGS = {
  top_field: { values: ['top_n', 'top_k'], default: 'top_n', meaning: 'the name of the field for the number of ranks' },
  documents: {
    values: ['any', 'text'],
    default: 'any',
    meaning: '`text`: documents must be plain strings, never objects',
  },
} as const satisfies Flags

export type RerankDialect = DialectOf<typeof FLAGS>

export const rerankDialect = (dialect: JsonObject): RerankDialect => dialect as RerankDialect
