import { readError } from '../errors/google-error.ts'
import type { Reader } from '../reader.ts'
import { readResult } from './result.ts'

/** Google's Veo as an upstream: videos by operations that run long. */
export const veo: Reader = { result: readResult, error: readError }
