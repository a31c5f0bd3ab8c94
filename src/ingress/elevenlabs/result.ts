import { BufferedBytes } from '../../canonical/bytes.ts'
import type { MediaSource } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import { segmentsOf } from '../../canonical/media/segments.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult, Word } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { type Work, workOf } from '../../canonical/work.ts'
import { anyNumber, anyObjects, anyText, defined } from '../fields.ts'
import { timesOf, transcriptResult } from '../media/transcript.ts'
import { readError } from './error.ts'

type ReadResult = (answer: WireAnswer, request: CanonicalRequest) => CanonicalResult

/** Readers of answers by kind of work. */
const READERS: { readonly [W in Work]?: ReadResult } = {
  speech: readSpeech,
  transcription: readTranscription,
}

/** Reads a whole answer, by the kind of work requested. */
export const readResult: ReadResult = (answer, request) => (READERS[workOf(request)] ?? readSpeech)(answer, request)

/**
 * Reads a recording from `/v1/text-to-speech`: raw bytes, or base64 with timestamps. The requested media type is used,
 * because ElevenLabs declares the same type for most containers.
 *
 * @throws GatewayError for any other body.
 */
function readSpeech({ status, headers, body, raw }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  const mediaType = typeOf(raw?.mediaType ?? '', request)
  if (raw !== undefined && 'bytes' in raw) return audioResult({ type: 'bytes', mediaType, bytes: raw.bytes })
  const data = anyText(body['audio_base64'])
  if (data !== undefined)
    return audioResult({ type: 'bytes', mediaType, bytes: new BufferedBytes(Buffer.from(data, 'base64')) })
  throw new GatewayError(
    body['detail'] === undefined
      ? { kind: 'upstream-failed', message: "The upstream's answer is not audio." }
      : readError({ status: Math.max(status, 502), headers, body }),
  )
}

const audioResult = (source: MediaSource): CanonicalResult => ({
  candidates: [{ content: [{ type: 'media', kind: 'audio', source }], finish: { reason: 'stop' } }],
})

/**
 * Returns the media type of a recording. Raw samples are requested at 24 kHz, even if the gateway wraps them in a
 * WAV file.
 */
function typeOf(declaredType: string, { output }: CanonicalRequest): string {
  const requestedType = output.audio?.mediaType
  if (requestedType === 'audio/pcm' || requestedType === 'audio/wav') return 'audio/L16;codec=pcm;rate=24000'
  return requestedType ?? (/^audio\//i.test(declaredType) ? declaredType : 'audio/mpeg')
}

/** Reads the transcript of `/v1/speech-to-text`, with the requested times. Segments are built from its words. */
function readTranscription({ status, headers, body }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  const text = anyText(body['text'])
  if (text === undefined) throw new GatewayError(readError({ status: Math.max(status, 502), headers, body }))
  const words = anyObjects(body['words']).flatMap(wire => readWord(wire, request.output.transcript?.speakers))
  const facts = {
    language: anyText(body['language_code']),
    duration: anyNumber(body['audio_duration_secs']),
    segments: segmentsOf(words, text),
    words,
  }
  return transcriptResult(anyText(body['transcription_id']), text, facts, request)
}

/** Reads a word. Skips entries for spacing and for sounds that are not speech. The speaker is added only on request. */
function readWord(wire: JsonObject, speakers: boolean | undefined): Word[] {
  const word = anyText(wire['text'])
  const times = timesOf(wire)
  if ((wire['type'] ?? 'word') !== 'word' || word === undefined || times === undefined) return []
  return [{ ...times, word, ...defined({ speaker: speakers === true ? anyText(wire['speaker_id']) : undefined }) }]
}
