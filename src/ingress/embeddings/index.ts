import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'

/** Embeddings, FORMATS §8. */
export const embeddings: Reader = { request: readRequest, result: readResult, error: readError }
