import type { Writer } from '../writer.ts'
import { writeError } from './error.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** Reranking as Jina, Voyage and the first version of Cohere have it, FORMATS §9. */
export const rerank: Writer = { request: writeRequest, result: writeResult, error: writeError }
