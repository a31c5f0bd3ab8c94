import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'

/** Google's generateContent, FORMATS §7. */
export const contents: Writer = { request: writeRequest }
