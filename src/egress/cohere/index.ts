import { writeRetrievalError } from '../errors/retrieval-error.ts'
import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** The second version of Cohere's API as far as it ranks and embeds, FORMATS §8 and §9. */
export const cohere: Writer = {
  request: writeRequest,
  result: writeResult,
  // It embeds images as data, never by URL (FORMATS §8), and ranks none.
  fetches: ({ kind }, _, work) => kind === 'image' && work === 'embedding',
  error: writeRetrievalError,
}
