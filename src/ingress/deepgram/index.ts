import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { readResult } from './result.ts'

/** Deepgram as an upstream: transcriptions. */
export const deepgram: Reader = { result: readResult, error: readError }
