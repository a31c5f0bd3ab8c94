import { writeRetrievalError } from '../errors/retrieval-error.ts'
import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** The writer for reranking in the format of Jina, Voyage and version 1 of Cohere's API (FORMATS §9). */
export const rerank: Writer = { request: writeRequest, result: writeResult, error: writeRetrievalError }
