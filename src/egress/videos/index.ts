import { videosDialect } from '../../formats/dialects/videos.ts'
import { writeError } from '../errors/openai-error.ts'
import type { TaskWriter } from '../task-writer.ts'
import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

const taskPath = (id: string): string => `/videos/${encodeURIComponent(id)}`
const NO_EXTRAS = { query: {}, headers: {} } as const

/** Writes requests about tasks (docs/wire/videos.md#openai). */
const tasks: TaskWriter = {
  status: ({ id }) => ({ method: 'GET', path: taskPath(id), ...NO_EXTRAS }),
  content: ({ id }, variant) => ({
    ...{ method: 'GET', path: `${taskPath(id)}/content`, headers: {} },
    query: variant === 'video' ? {} : { variant },
  }),
  remove: ({ id }) => ({ method: 'DELETE', path: taskPath(id), ...NO_EXTRAS }),
  remixes: dialect => videosDialect(dialect).remix !== false,
}

/** The writer for OpenAI's video format (docs/wire/videos.md#openai). */
export const videos: Writer = {
  request: writeRequest,
  result: writeResult,
  tasks,
  bytes: true,
  mustFetch: ({ kind }, dialect) => kind === 'image' && videosDialect(dialect).references === 'files',
  mustFetchNative: true,
  error: writeError,
}
