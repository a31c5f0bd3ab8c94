import { readRetrievalError } from '../errors/retrieval-error.ts'
import type { Reader } from '../reader.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'

/** Rerank and embed of the second version of Cohere's API, FORMATS §8 and §9. */
export const cohere: Reader = { request: readRequest, result: readResult, error: readRetrievalError }
