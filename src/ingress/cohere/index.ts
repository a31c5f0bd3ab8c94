import { readRetrievalError } from '../errors/retrieval-error.ts'
import type { Reader } from '../reader.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'
import { readResult } from './result.ts'

/**
 * The reader of Cohere's rerank and embed, API version 2 (docs/wire/embeddings.md#cohere, docs/wire/rerank.md#request).
 */
export const cohere: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  locate,
  result: readResult,
  error: readRetrievalError,
}
