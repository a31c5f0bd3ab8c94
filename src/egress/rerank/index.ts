import { writeRetrievalError } from '../errors/retrieval-error.ts'
import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** Reranking in the form of Jina, Voyage and the first version of Cohere's API, FORMATS §9. */
export const rerank: Writer = { request: writeRequest, result: writeResult, error: writeRetrievalError }
