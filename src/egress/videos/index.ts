import type { Writer } from '../writer.ts'
import { videosDialect } from './dialect.ts'
import { writeError } from './error.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'
import { tasks } from './tasks.ts'

/** Videos as OpenAI has them, FORMATS §11. */
export const videos: Writer = {
  request: writeRequest,
  result: writeResult,
  tasks,
  bytes: true,
  fetches: ({ kind }, dialect) => kind === 'image' && videosDialect(dialect).references === 'files',
  fetchesOwn: true,
  error: writeError,
}
