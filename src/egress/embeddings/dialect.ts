import type { Dialect } from '../writer.ts'

/**
 * The quirks of embeddings upstreams; what is not declared follows OpenAI's format. A field that is declared is
 * written for callers of the same format, too, whatever they called it.
 */
export interface EmbeddingsDialect {
  readonly dimensions_field?: 'dimensions' | 'output_dimension'
  readonly encoding_field?: 'encoding_format' | 'embedding_type'
  /** Knows the word `float`. Default true; otherwise numbers are asked for by saying nothing. */
  readonly float_encoding?: boolean
  /** Where it is told what the vectors are for: Voyage's field, or Jina's. */
  readonly purpose_field?: 'input_type' | 'task'
  /** Takes pictures: `{ "image": … }`. */
  readonly image_input?: boolean
  /** Takes `user`. Default true. */
  readonly end_user?: boolean
  /** The most inputs one request may have; more are split by the gateway. */
  readonly batch?: number
}

export const FLAGS = [
  ...['dimensions_field', 'encoding_field', 'float_encoding', 'purpose_field', 'image_input', 'end_user', 'batch'],
] as const

export const embeddingsDialect = (dialect: Dialect): EmbeddingsDialect => dialect as EmbeddingsDialect
