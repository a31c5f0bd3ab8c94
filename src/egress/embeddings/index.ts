import { writeError } from '../errors/openai-error.ts'
import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** Embeddings, FORMATS §8. */
export const embeddings: Writer = { request: writeRequest, result: writeResult, error: writeError }
