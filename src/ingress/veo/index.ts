import { readError } from '../errors/google-error.ts'
import type { Reader } from '../reader.ts'
import { readResult } from './result.ts'

/** The reader of Google's Veo, which makes videos in long-running operations. Veo is only an upstream. */
export const veo: Reader = { result: readResult, error: readError }
