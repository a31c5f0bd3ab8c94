import type { Writer } from '../writer.ts'
import { writeError } from './error.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'
import { tasks } from './tasks.ts'

/** Kling's videos, made of a text or of a picture. */
export const kling: Writer = {
  request: writeRequest,
  result: writeResult,
  error: writeError,
  tasks,
}
