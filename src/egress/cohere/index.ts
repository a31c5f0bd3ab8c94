import type { Writer } from '../writer.ts'
import { writeError } from './error.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** The second version of Cohere's API as far as it ranks and embeds, FORMATS §8 and §9. */
export const cohere: Writer = {
  request: writeRequest,
  result: writeResult,
  // It takes pictures as data, never their address (FORMATS §8).
  fetches: ({ kind }) => kind === 'image',
  error: writeError,
}
