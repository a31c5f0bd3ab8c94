import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'

/** Responses, FORMATS §4. */
export const responses: Writer = { request: writeRequest }
