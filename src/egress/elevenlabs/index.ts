import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'

/** ElevenLabs as an upstream: speech and transcriptions. */
export const elevenlabs: Writer = {
  request: writeRequest,
  bytes: true,
  fetches: () => true,
}
