import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { readResult } from './result.ts'

/** Deepgram as an upstream: recordings written down. */
export const deepgram: Reader = { result: readResult, error: readError }
