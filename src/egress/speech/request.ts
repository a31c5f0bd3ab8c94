import { foreignLosses, Losses, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { type SpeechDialect, speechDialect } from '../../formats/dialects/speech.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import { similarVoices } from '../media/similar-voices.ts'
import { speechTextOf } from '../media/speech-text.ts'
import { voiceOf } from '../media/voices.ts'
import { bodyWithModel, nativeSourceOf, withFields } from '../native.ts'
import { reportUnwritten } from '../sanitize/unwritten.ts'
import type { WriteOptions } from '../writer.ts'
import { containerOf } from './containers.ts'
import { writeMistralContainer } from './mistral.ts'

export const FORMAT = 'speech'

/** Voice for requests without a voice, because the format requires one. */
const DEFAULT_VOICE = 'alloy'
const WRITTEN_OUTPUT = new Set(['modalities', 'audio'])

/** Writes the request as `POST /audio/speech` (docs/wire/speech.md#request). */
export function writeRequest(
  request: CanonicalRequest,
  { dialect: flags, native }: WriteOptions,
): Written<WireRequest> {
  const dialect = speechDialect(flags)
  const losses = new Losses()
  const { speech_fields: fields = 'openai' } = dialect
  const isOfUpstream = native && fields === styleOf(request)
  const nativeSource = isOfUpstream ? nativeSourceOf(request, FORMAT, REWRITABLE) : undefined
  const { audio } = request.output
  const needsVoice = !isOfUpstream && request.extras?.[FORMAT]?.[CLONED_FIELD] === undefined
  const voice = voiceOf(request, dialect, losses, {
    similar: similarVoices(request.model),
    ...(needsVoice ? { fallback: DEFAULT_VOICE } : {}),
  })
  const streamFormat = writeStreamFormat(request, dialect, native, losses)
  const body =
    nativeSource === undefined
      ? writeBody(request, voice, streamFormat, dialect, losses)
      : withFields(
          bodyWithModel(request, nativeSource),
          {
            ...(voice === undefined || voice === audio?.voice ? {} : { [VOICE_FIELDS[fields]]: voice }),
            ...(dialect.wav_only === true
              ? { response_format: writeWav(audio, voice, losses) }
              : samplesFields(request, nativeSource.wire.body['response_format'], dialect, losses)),
          },
          (nativeSource.node.stream && streamFormat === undefined) || dialect.speech_events === false
            ? ['stream_format', ...(nativeSource.node.stream && fields === 'mistral' ? ['stream'] : [])]
            : [],
        )
  return { wire: { path: '/audio/speech', query: {}, headers: {}, body, accept: '*/*' }, losses: losses.list }
}

const REWRITABLE: ReadonlySet<string> = new Set(['model', 'stream'])

/** The vendor whose fields a native caller uses. */
const styleOf = (request: CanonicalRequest): string => String(spellingFor(request, FORMAT)['style'] ?? 'openai')

/** Returns true for clients of Mistral, which expect its answers (docs/wire/speech.md#mistral). */
export const isOfMistral = (request: CanonicalRequest): boolean => styleOf(request) === 'mistral'

/** The field of the voice, by the value of the flag `speech_fields`. */
const VOICE_FIELDS = { openai: 'voice', mistral: 'voice_id' } as const

/** Mistral's field for a recording whose voice is copied, which needs no other voice. */
const CLONED_FIELD = 'ref_audio'

function writeBody(
  request: CanonicalRequest,
  voice: string | undefined,
  streamFormat: string | undefined,
  dialect: SpeechDialect,
  losses: Losses,
): JsonObject {
  const { audio } = request.output
  losses.report(foreignLosses(request, FORMAT))
  reportUnwritten(request, WRITTEN_OUTPUT, losses)
  const isMistral = dialect.speech_fields === 'mistral'
  const { text, instructions } = speechTextOf(request, losses, !isMistral)
  const head = { model: request.model, input: text }
  const extras = extrasFor(request, FORMAT)
  if (isMistral) {
    if (audio?.speed !== undefined) losses.drop(['output', 'audio', 'speed'], 'no-speed')
    if (extras['voice_id'] !== undefined) losses.drop(['extras', FORMAT, 'voice_id'], 'said-in-another-field')
    const container = writeMistralContainer(audio?.mediaType, losses)
    const settings = defined({ voice_id: voice, response_format: container, stream: streamFormat && true })
    return { ...head, ...extras, ...settings } as JsonObject
  }
  return {
    ...head,
    ...defined({
      voice,
      instructions,
      response_format:
        dialect.wav_only === true ? writeWav(audio, voice, losses) : writeContainer(audio?.mediaType, losses),
      speed: audio?.speed,
      stream_format: streamFormat,
    }),
    ...extras,
    ...(dialect.wav_only === true
      ? {}
      : samplesFields(request, audio?.mediaType === RAW ? 'pcm' : undefined, dialect, losses)),
  } as JsonObject
}

const RAW = 'audio/pcm'
/** Samples that callers expect of OpenAI's `pcm`, in Together's fields (docs/wire/speech.md#together). */
const SAMPLES = { response_encoding: 'pcm_s16le', sample_rate: 24_000 } as const

/** Returns the fields for raw samples under the upstream's name, if a body has the other one. */
function samplesFields(
  { extras }: CanonicalRequest,
  container: Json | undefined,
  { raw_samples: name = 'pcm' }: SpeechDialect,
  losses: Losses,
): JsonObject {
  if ((container !== 'pcm' && container !== 'raw') || container === name) return {}
  if (name === 'pcm') return { response_format: name }
  const own = extras?.[FORMAT] ?? {}
  const missing = Object.fromEntries(Object.entries(SAMPLES).filter(([field]) => own[field] === undefined))
  if (extras === undefined) losses.addRestored(['extras'], { [FORMAT]: missing }, 'raw-samples')
  else if (extras[FORMAT] === undefined) losses.addRestored(['extras', FORMAT], missing, 'raw-samples')
  else
    for (const [field, value] of Object.entries(missing))
      losses.addRestored(['extras', FORMAT, field], value, 'raw-samples')
  return { response_format: name, ...missing }
}

/** Containers that the gateway makes of WAV files. */
const MADE_OF_WAV: ReadonlySet<string | undefined> = new Set(['mp3', 'pcm', 'wav'])

/**
 * Requests a WAV file, whatever the caller gets.
 *
 * @param voice the written voice. If the caller has none, it was reported as added.
 */
function writeWav(audio: Output['audio'], voice: string | undefined, losses: Losses): string {
  const path = ['output', 'audio', 'mediaType']
  if (audio === undefined && voice === undefined)
    losses.addRestored(['output', 'audio'], { mediaType: WAV }, 'converted-by-the-gateway')
  else if (audio?.mediaType === undefined) losses.addRestored(path, WAV, 'converted-by-the-gateway')
  else if (MADE_OF_WAV.has(containerOf(audio.mediaType)?.container)) {
    if (audio.mediaType !== WAV) losses.changeRestored(path, WAV, 'converted-by-the-gateway')
  } else losses.change(path, WAV, 'wav-only')
  return 'wav'
}

const WAV = 'audio/wav'

function writeContainer(mediaType: string | undefined, losses: Losses): string | undefined {
  if (mediaType === undefined) return undefined
  const path = ['output', 'audio', 'mediaType']
  const found = containerOf(mediaType)
  if (found === undefined) losses.drop(path, 'no-such-container')
  else if (found.mediaType !== mediaType) losses.changeRestored(path, found.mediaType, 'written-as-a-synonym')
  return found?.container
}

/**
 * Matches models that only return bytes (docs/wire/speech.md#events). The gateway converts the bytes to events as they
 * arrive.
 */
const BYTES_ONLY = /^tts-1\b/

/** Returns the `stream_format` of the request, or undefined if the upstream only sends bytes. */
function writeStreamFormat(
  { stream, model }: CanonicalRequest,
  { speech_events }: SpeechDialect,
  native: boolean,
  losses: Losses,
): string | undefined {
  if (!stream) return undefined
  if (speech_events !== false && (native || !BYTES_ONLY.test(model))) return 'sse'
  losses.changeRestored(['stream'], false, 'bytes-as-they-come')
  return undefined
}
