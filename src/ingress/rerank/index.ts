import { readRetrievalError } from '../errors/retrieval-error.ts'
import type { Reader } from '../reader.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'
import { readResult } from './result.ts'

/** Reranking as Jina, Voyage and the first version of Cohere have it, FORMATS §9. */
export const rerank: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  locate,
  result: readResult,
  error: readRetrievalError,
}
