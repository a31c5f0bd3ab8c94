import type { Dialect } from '../writer.ts'

/**
 * Dialect flags of embedding upstreams; without a flag the upstream follows OpenAI's format. A declared field name
 * replaces the caller's, even for native callers.
 */
export interface EmbeddingsDialect {
  readonly dimensions_field?: 'dimensions' | 'output_dimension'
  readonly encoding_field?: 'encoding_format' | 'embedding_type'
  /** Whether the upstream takes the encoding `float`. Default true; otherwise the field is omitted. */
  readonly float_encoding?: boolean
  /** The field for the purpose of the vectors: Voyage's `input_type` or Jina's `task`. */
  readonly purpose_field?: 'input_type' | 'task'
  /** Whether the upstream takes images, as `{ "image": … }`. */
  readonly image_input?: boolean
  /** Whether the upstream takes `user`. Default true. */
  readonly end_user?: boolean
  /** Inputs; the most per request. The gateway splits larger requests. */
  readonly batch?: number
}

export const FLAGS = [
  ...['dimensions_field', 'encoding_field', 'float_encoding', 'purpose_field', 'image_input', 'end_user', 'batch'],
] as const

export const embeddingsDialect = (dialect: Dialect): EmbeddingsDialect => dialect as EmbeddingsDialect
