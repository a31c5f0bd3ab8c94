import { writeRetrievalError } from '../errors/retrieval-error.ts'
import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/**
 * Writer for ranking and embedding in version 2 of Cohere's API (docs/wire/embeddings.md#cohere,
 * docs/wire/rerank.md#request).
 */
export const cohere: Writer = {
  request: writeRequest,
  result: writeResult,
  // Cohere only accepts images as data URLs in embeddings (docs/wire/embeddings.md#cohere), and does not rank images.
  mustFetch: ({ kind }, _, work) => kind === 'image' && work === 'embedding',
  error: writeRetrievalError,
}
