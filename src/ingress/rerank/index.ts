import { readRetrievalError } from '../errors/retrieval-error.ts'
import type { Reader } from '../reader.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'
import { readResult } from './result.ts'

/** The reader of reranking by Jina, Voyage and Cohere's API version 1 (docs/wire/rerank.md). */
export const rerank: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  locate,
  result: readResult,
  error: readRetrievalError,
}
