import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { readResult } from './result.ts'

/** The reader of ElevenLabs' speech and transcriptions. ElevenLabs' formats are supported only for upstreams. */
export const elevenlabs: Reader = {
  result: readResult,
  raw: true,
  error: readError,
}
