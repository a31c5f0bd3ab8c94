import { readRetrievalError } from '../errors/retrieval-error.ts'
import type { Reader } from '../reader.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'

/** Reranking as Jina, Voyage and the first version of Cohere have it, FORMATS §9. */
export const rerank: Reader = { request: readRequest, result: readResult, error: readRetrievalError }
