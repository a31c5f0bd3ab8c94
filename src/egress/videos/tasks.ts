import type { TaskWriter } from '../task-writer.ts'
import { videosDialect } from './dialect.ts'

const place = (id: string): string => `/videos/${encodeURIComponent(id)}`
const PLAIN = { query: {}, headers: {} } as const

/** Requests about tasks (FORMATS §11). */
export const tasks: TaskWriter = {
  status: ({ id }) => ({ method: 'GET', path: place(id), ...PLAIN }),
  content: ({ id }, variant) => ({
    ...{ method: 'GET', path: `${place(id)}/content`, headers: {} },
    query: variant === 'video' ? {} : { variant },
  }),
  remove: ({ id }) => ({ method: 'DELETE', path: place(id), ...PLAIN }),
  remixes: dialect => videosDialect(dialect).remix !== false,
}
