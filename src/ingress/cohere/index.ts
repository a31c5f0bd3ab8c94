import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'

/** The second version of Cohere's API as far as it ranks and embeds, FORMATS §8 and §9. */
export const cohere: Reader = { request: readRequest, result: readResult, error: readError }
