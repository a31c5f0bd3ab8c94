import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'
import { SHARED_FLAGS } from './shared-flags.ts'

/** Dialect flags of embedding upstreams. A declared field name replaces the caller's, even for native callers. */
export const FLAGS = {
  dimensions_field: {
    values: ['dimensions', 'output_dimension', 'none'],
    meaning: 'the name of the field for the length of a vector; `none` if it cannot be chosen',
  },
  encoding_field: {
    values: ['encoding_format', 'embedding_type'],
    meaning: 'the name of the field for the encoding of a vector',
  },
  float_encoding: {
    values: 'boolean',
    default: true,
    meaning: 'takes the encoding `float`; default: true; if false, the field is left out to get numbers',
  },
  base64_encoding: {
    values: 'boolean',
    default: true,
    meaning:
      'takes the encoding `base64`; default: true; if false, the field is left out, and the gateway encodes the numbers',
  },
  purpose_field: { values: ['input_type', 'task'], meaning: 'the name of the field for the purpose of the vectors' },
  default_purpose: {
    values: ['query', 'document'],
    meaning: 'the purpose of requests that state none, for upstreams that refuse these, such as NVIDIA NIM',
  },
  document_word: {
    values: ['document', 'passage'],
    default: 'document',
    meaning: 'the word in `input_type` for vectors of documents; `passage` at NVIDIA NIM',
  },
  tokens: {
    values: 'boolean',
    default: true,
    meaning:
      'takes inputs as token ids; default: true; if false, the gateway writes their text in the vocabulary cl100k_base',
  },
  image_input: { values: 'boolean', default: false, meaning: 'embeds images' },
  end_user: { values: 'boolean', default: true, meaning: 'takes `user`; default: true' },
  batch: SHARED_FLAGS.batch,
  batch_tokens: SHARED_FLAGS.batch_tokens,
} as const satisfies Flags

export type EmbeddingsDialect = DialectOf<typeof FLAGS>

export const embeddingsDialect = (dialect: JsonObject): EmbeddingsDialect => dialect as EmbeddingsDialect
