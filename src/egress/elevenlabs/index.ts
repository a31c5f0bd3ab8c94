import type { Writer } from '../writer.ts'
import { writeRequest } from './request.ts'

/** The writer for ElevenLabs, a speech and transcription upstream. */
export const elevenlabs: Writer = {
  request: writeRequest,
  bytes: true,
  mustFetch: () => true,
}
