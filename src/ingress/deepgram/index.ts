import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { readResult } from './result.ts'

/** The reader of Deepgram's transcriptions. Deepgram's format is supported only for upstreams. */
export const deepgram: Reader = { result: readResult, error: readError }
