import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { readResult } from './result.ts'

/** ElevenLabs as an upstream: speech and transcriptions. */
export const elevenlabs: Reader = {
  result: readResult,
  raw: true,
  error: readError,
}
