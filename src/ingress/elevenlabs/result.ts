import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { type Work, workOf } from '../../canonical/work.ts'
import { readSpeech } from './speech.ts'
import { readTranscription } from './transcription.ts'

type ReadResult = (answer: WireAnswer, request: CanonicalRequest) => CanonicalResult

/** The reader of answers to each kind of work. */
const READERS: { readonly [W in Work]?: ReadResult } = {
  speech: readSpeech,
  transcription: readTranscription,
}

/** A whole answer, by the kind of work requested. */
export const readResult: ReadResult = (answer, request) => (READERS[workOf(request)] ?? readSpeech)(answer, request)
