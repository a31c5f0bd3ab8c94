import { foreignLosses, Losses, type Written } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined } from '../fields.ts'
import { languageCodeOf } from '../media/language.ts'
import { bareRecordingOf } from '../media/recording.ts'
import { reportUnwritten } from '../sanitize/unwritten.ts'
import type { Writer } from '../writer.ts'

const FORMAT = 'deepgram'
const WRITTEN_OUTPUT = new Set(['transcript'])

/** Models before Nova 3 (docs/wire/transcriptions.md#deepgram). They have another field for expected words. */
const EARLY_MODELS = /^(?:nova(?:-2)?(?!-?\d)|enhanced|base|whisper)/

/** Matches codes with a region, and the word for speech in several languages (docs/wire/transcriptions.md#deepgram). */
const DEEPGRAM_LANGUAGES = /^(?:multi|[a-z]{2,3}-[A-Za-z0-9]{2,8})$/

/**
 * Writes the request as `POST /v1/listen`, with the settings in the query and the recording as the body.
 *
 * @throws GatewayError `cannot-express` if the request contains no recording.
 */
function writeRequest(request: CanonicalRequest): Written<WireRequest> {
  const losses = new Losses(foreignLosses(request, FORMAT))
  reportUnwritten(request, WRITTEN_OUTPUT, losses)
  const { mediaType, bytes } = bareRecordingOf(request, FORMAT, losses)
  const { timestamps, speakers, keywords } = request.output.transcript ?? {}
  const language = languageCodeOf(request, losses, DEEPGRAM_LANGUAGES)
  const query = defined({
    model: request.model,
    smart_format: 'true',
    punctuate: 'true',
    language,
    detect_language: language === undefined ? 'true' : undefined,
    utterances: timestamps !== undefined || speakers === true ? 'true' : undefined,
    diarize: speakers === true ? 'true' : undefined,
    [EARLY_MODELS.test(request.model) ? 'keywords' : 'keyterm']: keywords,
  })
  return { wire: { path: '/v1/listen', query, headers: {}, body: {}, raw: { mediaType, bytes } }, losses: losses.list }
}

/** The writer for Deepgram, a transcription upstream. */
export const deepgram: Writer = { request: writeRequest, bytes: true, mustFetch: () => true }
