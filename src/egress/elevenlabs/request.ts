import { cannotExpress, invalid } from '../../canonical/error.ts'
import { foreignLosses, Losses, type Written } from '../../canonical/loss.ts'
import { isAddressable } from '../../canonical/model-name.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { type CanonicalRequest, isInstructing } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { type Work, workOf } from '../../canonical/work.ts'
import { defined } from '../fields.ts'
import { languageCodeOf } from '../media/language.ts'
import { bareRecordingOf } from '../media/recording.ts'
import { speechTextOf } from '../media/speech-text.ts'
import { voiceDialect, voiceOf } from '../media/voices.ts'
import { reportUnwritten } from '../sanitize/unwritten.ts'
import type { WriteOptions } from '../writer.ts'

type WriteRequest = (request: CanonicalRequest, options: WriteOptions) => Written<WireRequest>

/** The request writer for each kind of work. */
const WRITERS: { readonly [W in Work]?: WriteRequest } = {
  speech: writeSpeech,
  transcription: writeTranscription,
}

/** Writes the request for its kind of work. Throws GatewayError `cannot-express` for any other kind. */
export const writeRequest: WriteRequest = (request, options) => {
  const write = WRITERS[workOf(request)]
  if (write === undefined) throw cannotExpress('The model does not support this kind of work.')
  return write(request, options)
}

const FORMAT = 'elevenlabs'
const SPEECH_FIELDS = new Set(['modalities', 'audio'])

/**
 * Writes the request as `POST /v1/text-to-speech/{voice_id}`. The suffix `/stream` is added if the bytes are streamed.
 *
 * @throws GatewayError `invalid-request` if neither the request nor the channel names a voice, or if the voice cannot
 *   be part of a URL path.
 */
function writeSpeech(request: CanonicalRequest, { dialect }: WriteOptions): Written<WireRequest> {
  const losses = new Losses(foreignLosses(request, FORMAT))
  reportUnwritten(request, SPEECH_FIELDS, losses)
  const { text, instructions } = speechTextOf(request, losses)
  if (instructions !== undefined) reportInstructions(request, losses)
  const voice = voiceOf(request, voiceDialect(dialect), losses, { isVoiceId: isId })
  if (voice === undefined) throw NO_VOICE
  if (!isAddressable(voice)) throw NO_NAME
  const speed = writeSpeed(request.output.audio?.speed, losses)
  const body = {
    text,
    model_id: request.model,
    ...defined({ voice_settings: speed === undefined ? undefined : { speed } }),
  } as JsonObject
  const container = writeContainer(request.output.audio?.mediaType, losses)
  const wire = {
    path: `/v1/text-to-speech/${encodeURIComponent(voice.toWellFormed())}${request.stream ? '/stream' : ''}`,
    query: defined({ output_format: container }),
    headers: {},
    body,
    accept: '*/*',
  }
  return { wire, losses: losses.list }
}

/** Returns true if the voice is an ElevenLabs id: twenty letters and digits. */
const isId = (voice: string): boolean => /^[A-Za-z0-9]{20}$/.test(voice)

const NO_VOICE = invalid('voice: this model requires a voice.', 'voice')
const NO_NAME = invalid('voice: is not a valid voice name.', 'voice')

function reportInstructions({ messages }: CanonicalRequest, losses: Losses): void {
  for (const [index, { role }] of messages.entries())
    if (isInstructing(role)) losses.drop(['messages', index], 'no-instructions')
}

/** Lowest speed that ElevenLabs accepts. 1 is normal. */
const MIN_SPEED = 0.7
/** Highest speed that ElevenLabs accepts. */
const MAX_SPEED = 1.2

/** Limits the speed to ElevenLabs' range. */
function writeSpeed(speed: number | undefined, losses: Losses): number | undefined {
  if (speed === undefined) return undefined
  const allowedSpeed = Math.min(Math.max(speed, MIN_SPEED), MAX_SPEED)
  if (allowedSpeed !== speed) losses.change(['output', 'audio', 'speed'], allowedSpeed, 'no-such-speed')
  return allowedSpeed
}

/**
 * ElevenLabs' output format for each media type. PCM has a rate of 24 kHz, as at other vendors, and is converted to WAV
 * on the response path if needed.
 */
const CONTAINERS: { readonly [mediaType: string]: string } = {
  'audio/mpeg': 'mp3_44100_128',
  'audio/opus': 'opus_48000_128',
  'audio/pcm': 'pcm_24000',
  'audio/wav': 'pcm_24000',
}

function writeContainer(mediaType: string | undefined, losses: Losses): string | undefined {
  if (mediaType === undefined) return undefined
  if (Object.hasOwn(CONTAINERS, mediaType)) return CONTAINERS[mediaType]
  return losses.drop(['output', 'audio', 'mediaType'], 'no-such-container')
}

const TRANSCRIPT_FIELDS = new Set(['transcript'])

/**
 * Writes the request as a form for `POST /v1/speech-to-text`. Tagging of non-speech audio events is turned off.
 *
 * @throws GatewayError `cannot-express` if the request contains no recording.
 */
function writeTranscription(request: CanonicalRequest): Written<WireRequest> {
  const losses = new Losses(foreignLosses(request, FORMAT))
  const { temperature, ...sampling } = request.sampling
  reportUnwritten({ ...request, sampling }, TRANSCRIPT_FIELDS, losses)
  const file = bareRecordingOf(request, FORMAT, losses)
  const { timestamps, speakers, keywords } = request.output.transcript ?? {}
  const body = defined({
    model_id: request.model,
    language_code: languageCodeOf(request, losses),
    timestamps_granularity: timestamps === undefined && speakers !== true ? 'none' : 'word',
    diarize: speakers === true ? 'true' : undefined,
    tag_audio_events: 'false',
    temperature: temperature === undefined ? undefined : String(temperature),
    keyterms: keywords,
  }) as JsonObject
  const wire = { path: '/v1/speech-to-text', query: {}, headers: {}, body, files: [file], accept: 'application/json' }
  return { wire, losses: losses.list }
}
