import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'

/** Messages, FORMATS §6. */
export const messages: Writer = { request: writeRequest }
