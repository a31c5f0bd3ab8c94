import type { Reader } from '../reader.ts'
import { readRequest } from './request.ts'

/** Responses, FORMATS §4. */
export const responses: Reader = { request: readRequest }
