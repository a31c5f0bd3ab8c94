import { writeError } from '../errors/openai-error.ts'
import type { TaskWriter } from '../task-writer.ts'
import type { Writer } from '../writer.ts'
import { videosDialect } from './dialect.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

const place = (id: string): string => `/videos/${encodeURIComponent(id)}`
const PLAIN = { query: {}, headers: {} } as const

/** Writes the requests about tasks (FORMATS §11). */
const tasks: TaskWriter = {
  status: ({ id }) => ({ method: 'GET', path: place(id), ...PLAIN }),
  content: ({ id }, variant) => ({
    ...{ method: 'GET', path: `${place(id)}/content`, headers: {} },
    query: variant === 'video' ? {} : { variant },
  }),
  remove: ({ id }) => ({ method: 'DELETE', path: place(id), ...PLAIN }),
  remixes: dialect => videosDialect(dialect).remix !== false,
}

/** The writer for OpenAI's video format (FORMATS §11). */
export const videos: Writer = {
  request: writeRequest,
  result: writeResult,
  tasks,
  bytes: true,
  fetches: ({ kind }, dialect) => kind === 'image' && videosDialect(dialect).references === 'files',
  fetchesOwn: true,
  error: writeError,
}
