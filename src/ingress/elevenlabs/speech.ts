import { HeldBytes } from '../../canonical/bytes.ts'
import type { MediaSource } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyText } from '../fields.ts'
import { readError } from './error.ts'

/**
 * A recording as `/v1/text-to-speech` answers it: its bytes, or base64 beside timestamps. Its media type is the one
 * requested: the answer's own is the same for most containers.
 */
export function readSpeech({ status, headers, body, raw }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  const mediaType = typeOf(raw?.mediaType ?? '', request)
  if (raw !== undefined && 'bytes' in raw) return audioResult({ type: 'bytes', mediaType, bytes: raw.bytes })
  const data = anyText(body['audio_base64'])
  if (data !== undefined)
    return audioResult({ type: 'bytes', mediaType, bytes: new HeldBytes(Buffer.from(data, 'base64')) })
  throw new GatewayError(
    body['detail'] === undefined
      ? { kind: 'upstream-failed', message: 'The upstream sent something that is no audio.' }
      : readError({ status: Math.max(status, 502), headers, body }),
  )
}

const audioResult = (source: MediaSource): CanonicalResult => ({
  candidates: [{ content: [{ type: 'media', kind: 'audio', source }], finish: { reason: 'stop' } }],
})

/** Raw samples are requested at 24 kHz, also where they are to become a WAV file. */
function typeOf(declared: string, { output }: CanonicalRequest): string {
  const wanted = output.audio?.mediaType
  if (wanted === 'audio/pcm' || wanted === 'audio/wav') return 'audio/L16;codec=pcm;rate=24000'
  return wanted ?? (/^audio\//i.test(declared) ? declared : 'audio/mpeg')
}
