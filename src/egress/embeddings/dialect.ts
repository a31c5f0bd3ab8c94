import type { Dialect } from '../writer.ts'

/**
 * The quirks of embeddings upstreams; flags that are not declared follow OpenAI's format. A declared field name is also
 * used for callers of the same format, whichever name they used.
 */
export interface EmbeddingsDialect {
  readonly dimensions_field?: 'dimensions' | 'output_dimension'
  readonly encoding_field?: 'encoding_format' | 'embedding_type'
  /** Takes the encoding `float`. Default true; otherwise the field is omitted. */
  readonly float_encoding?: boolean
  /** The field of the vectors' purpose: Voyage's or Jina's. */
  readonly purpose_field?: 'input_type' | 'task'
  /** Takes images: `{ "image": … }`. */
  readonly image_input?: boolean
  /** Takes `user`. Default true. */
  readonly end_user?: boolean
  /** The maximum number of inputs per request; the gateway splits larger ones. */
  readonly batch?: number
}

export const FLAGS = [
  ...['dimensions_field', 'encoding_field', 'float_encoding', 'purpose_field', 'image_input', 'end_user', 'batch'],
] as const

export const embeddingsDialect = (dialect: Dialect): EmbeddingsDialect => dialect as EmbeddingsDialect
