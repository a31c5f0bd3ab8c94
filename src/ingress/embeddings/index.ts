import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { locate } from './locate.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'
import { parseUntouched } from './untouched.ts'

/** Embeddings, FORMATS §8. */
export const embeddings: Reader = {
  request: readRequest,
  locate,
  result: readResult,
  parse: parseUntouched,
  error: readError,
}
