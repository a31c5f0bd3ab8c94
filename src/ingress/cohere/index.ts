import { readRetrievalError } from '../errors/retrieval-error.ts'
import type { Reader } from '../reader.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'
import { readResult } from './result.ts'

/** Rerank and embed of the second version of Cohere's API, FORMATS §8 and §9. */
export const cohere: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  locate,
  result: readResult,
  error: readRetrievalError,
}
