import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'

/** ElevenLabs as an upstream: speech. */
export const elevenlabs: Writer = {
  request: writeRequest,
  bytes: true,
}
