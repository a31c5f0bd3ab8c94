import { Sequential } from '../../canonical/sequential.ts'
import { writeError } from '../errors/openai-error.ts'
import type { Writer } from '../writer.ts'
import { containerOf } from './containers.ts'
import { SpeechStream } from './events.ts'
import { isOfMistral, writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** The writer for OpenAI's text-to-speech format (docs/wire/speech.md). */
export const speech: Writer = {
  request: writeRequest,
  result: writeResult,
  bytes: true,
  answersInJson: isOfMistral,
  events: request => new Sequential(new SpeechStream(request)),
  error: writeError,
  container: { defaultType: 'audio/mpeg', nameOf: mediaType => containerOf(mediaType)?.container },
}
