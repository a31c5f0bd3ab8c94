import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'

/** ElevenLabs as an upstream: speech, and recordings written down. */
export const elevenlabs: Writer = {
  request: writeRequest,
  bytes: true,
  fetches: () => true,
}
