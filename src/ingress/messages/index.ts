import type { Reader } from '../reader.ts'
import { readRequest } from './request.ts'

/** Messages, FORMATS §6. */
export const messages: Reader = { request: readRequest }
