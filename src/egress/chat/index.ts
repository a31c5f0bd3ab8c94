import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'

/** Chat completions, FORMATS §2. */
export const chat: Writer = { request: writeRequest }
