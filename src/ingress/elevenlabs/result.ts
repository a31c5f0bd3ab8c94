import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { type Work, workOf } from '../../canonical/work.ts'
import { readSpeech } from './speech.ts'
import { readTranscription } from './transcription.ts'

type ReadResult = (answer: WireAnswer, asked: CanonicalRequest) => CanonicalResult

/** How the answer to each kind of work is read. */
const READERS: { readonly [W in Work]?: ReadResult } = {
  speech: readSpeech,
  transcription: readTranscription,
}

/** A whole answer, by what was asked for. */
export const readResult: ReadResult = (answer, asked) => (READERS[workOf(asked)] ?? readSpeech)(answer, asked)
