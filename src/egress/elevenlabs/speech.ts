import { GatewayError } from '../../canonical/error.ts'
import { foreign, Losses, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined } from '../fields.ts'
import { speechTextOf } from '../media/speech-text.ts'
import { voiceOf } from '../media/voices.ts'
import { reportUnwritten } from '../sanitize/bare.ts'
import type { WriteOptions } from '../writer.ts'
import { elevenLabsDialect } from './dialect.ts'

const FORMAT = 'elevenlabs'
const OUTPUT = new Set(['modalities', 'audio'])

/**
 * The canonical request as `POST /v1/text-to-speech/{voice_id}`, or its `/stream` where the bytes are sent as events.
 *
 * @throws GatewayError `invalid-request` without a voice in the request and in the channel.
 */
export function writeSpeech(request: CanonicalRequest, { dialect }: WriteOptions): Written<WireRequest> {
  const losses = new Losses()
  losses.report(foreign(request, FORMAT))
  reportUnwritten(request, OUTPUT, losses)
  const { text, instructions } = speechTextOf(request, losses)
  if (instructions !== undefined) reportInstructions(request, losses)
  const voice = voiceOf(request, elevenLabsDialect(dialect), losses, { isOwn: isId })
  if (voice === undefined) throw NO_VOICE
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

/** Voices have ids of twenty letters and digits. */
const isId = (voice: string): boolean => /^[A-Za-z0-9]{20}$/.test(voice)

const NO_VOICE = new GatewayError({
  kind: 'invalid-request',
  message: 'voice: this model requires a voice.',
  param: 'voice',
})

function reportInstructions({ messages }: CanonicalRequest, losses: Losses): void {
  for (const [index, { role }] of messages.entries())
    if (role === 'system' || role === 'developer') losses.drop(['messages', index], 'no-instructions')
}

const SLOWEST = 0.7
const FASTEST = 1.2

function writeSpeed(speed: number | undefined, losses: Losses): number | undefined {
  if (speed === undefined) return undefined
  const near = Math.min(Math.max(speed, SLOWEST), FASTEST)
  if (near !== speed) losses.change(['output', 'audio', 'speed'], near, 'no-such-speed')
  return near
}

/** Other services' `pcm` has samples at 24 kHz; the response path makes a WAV file of them. */
const CONTAINERS: { readonly [mediaType: string]: string } = {
  'audio/mpeg': 'mp3_44100_128',
  'audio/opus': 'opus_48000_128',
  'audio/pcm': 'pcm_24000',
  'audio/wav': 'pcm_24000',
}

function writeContainer(mediaType: string | undefined, losses: Losses): string | undefined {
  if (mediaType === undefined) return undefined
  if (Object.hasOwn(CONTAINERS, mediaType)) return CONTAINERS[mediaType]
  losses.drop(['output', 'audio', 'mediaType'], 'no-such-container')
  return undefined
}
