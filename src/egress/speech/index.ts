import { Sequential } from '../../canonical/sequential.ts'
import type { Writer } from '../writer.ts'
import { containerOf } from './containers.ts'
import { writeError } from './error.ts'
import { SpeechStream } from './events.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** Text to speech in OpenAI's format, FORMATS §12. */
export const speech: Writer = {
  request: writeRequest,
  result: writeResult,
  bytes: true,
  events: request => new Sequential(new SpeechStream(request)),
  error: writeError,
  container: { usual: 'audio/mpeg', nameOf: mediaType => containerOf(mediaType)?.container },
}
