import { readError } from '../errors/google-error.ts'
import type { Reader } from '../reader.ts'
import { readResult } from './result.ts'

/**
 * The reader of Google's Veo, which generates videos in long-running operations. Veo's format is supported only for
 * upstreams.
 */
export const veo: Reader = { result: readResult, error: readError }
