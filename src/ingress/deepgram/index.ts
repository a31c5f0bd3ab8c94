import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { readResult } from './result.ts'

/** The reader of Deepgram's transcriptions; Deepgram is only an upstream. */
export const deepgram: Reader = { result: readResult, error: readError }
