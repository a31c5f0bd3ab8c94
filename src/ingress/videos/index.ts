import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { locate } from './locate.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'

/** Videos as OpenAI has them, FORMATS §11. */
export const videos: Reader = { request: readRequest, locate, result: readResult, error: readError }
