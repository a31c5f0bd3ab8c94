import type { UpstreamTask } from '../../canonical/task.ts'
import type { TaskCall, TaskWriter } from '../task-writer.ts'
import type { Writer } from '../writer.ts'
import { writeError } from './error.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

const statusOf = ({ from }: Pick<UpstreamTask, 'from'>, id: string): TaskCall => ({
  method: 'GET',
  path: `/v1/videos/${from === 'text' ? 'text2video' : 'image2video'}/${encodeURIComponent(id.toWellFormed())}`,
  query: {},
  headers: {},
})

/** Writes requests about tasks, which are identified by their ids or by references. Videos have public URLs. */
const tasks: TaskWriter = {
  status: task => statusOf(task, task.id),
  find: (task, reference) => statusOf(task, reference),
  content: ({ files }, variant) => {
    const url = files?.find(file => file.variant === variant)?.url
    return url !== undefined && /^https?:\/\//i.test(url) ? { url } : undefined
  },
}

/** The writer for Kling's API, which generates videos from a text or an image. */
export const kling: Writer = {
  request: writeRequest,
  result: writeResult,
  error: writeError,
  tasks,
}
