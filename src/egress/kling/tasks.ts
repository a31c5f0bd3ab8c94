import type { UpstreamTask } from '../../canonical/task.ts'
import type { TaskCall, TaskWriter } from '../task-writer.ts'

const statusOf = ({ from }: Pick<UpstreamTask, 'from'>, id: string): TaskCall => ({
  method: 'GET',
  path: `/v1/videos/${from === 'text' ? 'text2video' : 'image2video'}/${encodeURIComponent(id.toWellFormed())}`,
  query: {},
  headers: {},
})

/** Requests about tasks, by their ids and by their callers' own; videos are at public addresses. */
export const tasks: TaskWriter = {
  status: task => statusOf(task, task.id),
  find: (task, reference) => statusOf(task, reference),
  content: ({ files }, variant) => {
    const url = files?.find(file => file.variant === variant)?.url
    return url !== undefined && /^https?:\/\//i.test(url) ? { url } : undefined
  },
}
