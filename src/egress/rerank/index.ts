import { writeRetrievalError } from '../errors/retrieval-error.ts'
import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/**
 * The writer for reranking in the format shared by Jina, Voyage and version 1 of Cohere's API (docs/wire/rerank.md).
 */
export const rerank: Writer = { request: writeRequest, result: writeResult, error: writeRetrievalError }
