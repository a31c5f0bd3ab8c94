import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'

/** The writer for ElevenLabs, an upstream for speech and transcriptions. */
export const elevenlabs: Writer = {
  request: writeRequest,
  bytes: true,
  mustFetch: () => true,
}
