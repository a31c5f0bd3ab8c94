import type { Reader } from '../reader.ts'
import { readRequest } from './request.ts'

/** Chat completions, FORMATS §2. */
export const chat: Reader = { request: readRequest }
