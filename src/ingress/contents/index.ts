import type { Reader } from '../reader.ts'
import { readRequest } from './request.ts'

/** Google's generateContent, FORMATS §7. */
export const contents: Reader = { request: readRequest }
