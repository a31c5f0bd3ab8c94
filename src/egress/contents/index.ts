import type { Writer } from '../writer.ts'
import { writeError } from './error.ts'
import { ContentsStream } from './events.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** Google's generateContent, FORMATS §7. */
export const contents: Writer = {
  request: writeRequest,
  result: writeResult,
  events: () => new ContentsStream(),
  fetches: (_, { fetch_urls }) => fetch_urls === true,
  error: writeError,
}
