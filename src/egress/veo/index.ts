import type { Writer } from '../writer.ts'
import { isStored } from './media.ts'
import { writeRequest } from './request.ts'
import { tasks } from './tasks.ts'

/** Google's Veo as an upstream: videos by operations that run long. */
export const veo: Writer = {
  request: writeRequest,
  tasks,
  fetches: part => !isStored(part),
}
