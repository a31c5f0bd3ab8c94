import { readError } from '../errors/openai-error.ts'
import type { Reader } from '../reader.ts'
import { locate, readRequest } from './request.ts'
import { readResult } from './result.ts'

/** Videos as OpenAI has them, FORMATS §11. */
export const videos: Reader = { request: readRequest, locate, result: readResult, error: readError }
