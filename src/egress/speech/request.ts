import { foreign, Losses, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject, Node } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { speechTextOf } from '../media/speech-text.ts'
import { voiceOf } from '../media/voices.ts'
import { reportUnwritten } from '../sanitize/bare.ts'
import type { WriteOptions } from '../writer.ts'
import { containerOf, FORMAT } from './containers.ts'
import { type SpeechDialect, speechDialect } from './dialect.ts'

/** The default voice: the format requires one. */
const USUAL_VOICE = 'alloy'
const OUTPUT = new Set(['modalities', 'audio'])

/** The canonical request as `POST /audio/speech` (FORMATS §12). */
export function writeRequest(
  request: CanonicalRequest,
  { dialect: flags, native }: WriteOptions,
): Written<WireRequest> {
  const dialect = speechDialect(flags)
  const losses = new Losses()
  losses.report(foreign(request, FORMAT))
  reportUnwritten(request, OUTPUT, losses)
  const { text, instructions } = speechTextOf(request, losses)
  const own = native ? spelt(request, FORMAT) : {}
  const voice = voiceOf(request, dialect, losses, native ? {} : { usual: USUAL_VOICE })
  const body = {
    model: request.model,
    input: text,
    ...defined({
      voice: voice === undefined ? undefined : writeVoice(voice, request.output.audio),
      instructions,
      response_format: writeContainer(request.output.audio?.mediaType, losses),
      speed: request.output.audio?.speed,
      stream_format: writeFlow(request, dialect, native, losses) ?? own['stream_format'],
    }),
    ...kept(request, FORMAT),
  } as JsonObject
  return { wire: { path: '/audio/speech', query: {}, headers: {}, body, accept: '*/*' }, losses: losses.list }
}

/** A custom voice is an object with an id. */
function writeVoice(voice: string, audio: Output['audio']): Json {
  const { voice: as, inside } = spelt(audio, FORMAT)
  if (as !== 'object') return voice
  const within: Node = {
    extras: { [FORMAT]: (audio?.extras?.[FORMAT]?.['voice'] ?? {}) as JsonObject },
    spelling: { [FORMAT]: (inside ?? {}) as JsonObject },
  }
  return { id: voice, ...kept(within, FORMAT) }
}

function writeContainer(mediaType: string | undefined, losses: Losses): string | undefined {
  if (mediaType === undefined) return undefined
  const path = ['output', 'audio', 'mediaType']
  const found = containerOf(mediaType)
  if (found === undefined) losses.drop(path, 'no-such-container')
  else if (found.mediaType !== mediaType) losses.rename(path, found.mediaType, 'another-word-for-it')
  return found?.container
}

/** Models that return bytes only (FORMATS §12); the gateway makes events of them as they come. */
const BYTES_ONLY = /^tts-1\b/

function writeFlow(
  { stream, model }: CanonicalRequest,
  { speech_events }: SpeechDialect,
  native: boolean,
  losses: Losses,
): string | undefined {
  if (!stream) return undefined
  if (speech_events !== false && (native || !BYTES_ONLY.test(model))) return 'sse'
  losses.rename(['stream'], false, 'bytes-as-they-come')
  return undefined
}
