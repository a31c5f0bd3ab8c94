import { writeRetrievalError } from '../errors/retrieval-error.ts'
import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** The writer for version 2 of Cohere's API: ranking and embedding (FORMATS §8 and §9). */
export const cohere: Writer = {
  request: writeRequest,
  result: writeResult,
  // Cohere embeds images as data URLs, never by URL (FORMATS §8), and ranks no images.
  fetches: ({ kind }, _, work) => kind === 'image' && work === 'embedding',
  error: writeRetrievalError,
}
