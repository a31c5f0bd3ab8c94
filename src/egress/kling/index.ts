import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'
import { tasks } from './tasks.ts'

/** Kling's videos, made of a text or of a picture. */
export const kling: Writer = {
  request: writeRequest,
  tasks,
  fetchesOwn: true,
}
