import { type Bytes, HeldBytes } from '../../canonical/bytes.ts'
import type { MediaPart, MediaSource, Part } from '../../canonical/content.ts'
import { samplesOf, WAV_HEADER, wavHeader } from '../../canonical/media/wav.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'

/** An audio part whose bytes are available. */
export type Recording = MediaPart & { readonly source: MediaSource & { readonly type: 'base64' | 'bytes' } }

export const isRecording = (part: Part): part is Recording =>
  part.type === 'media' && part.kind === 'audio' && (part.source.type === 'base64' || part.source.type === 'bytes')

/** Raw samples in several parts are one recording. */
export const continues = (first: Recording, next: Recording): boolean =>
  first.source.type === 'base64' &&
  next.source.type === 'base64' &&
  first.source.mediaType === next.source.mediaType &&
  samplesOf(first.source.mediaType) !== undefined

const RAW = 'audio/pcm'
const WAV = 'audio/wav'

/**
 * How raw samples are delivered, which few players support: unchanged where they were requested, else as a WAV file.
 * Undefined for audio that is in a container already.
 */
export function wrapping(mediaType: string, { output }: CanonicalRequest): 'raw' | 'wav' | undefined {
  const wanted = output.audio?.mediaType
  if (samplesOf(mediaType) === undefined) return undefined
  if (wanted === RAW) return mediaType === RAW ? undefined : 'raw'
  return mediaType === RAW && wanted === undefined ? undefined : 'wav'
}

/** The bytes of all parts of a recording, and their media type, as delivered to the caller. */
export function delivered(
  [first, ...more]: readonly [Recording, ...Recording[]],
  request: CanonicalRequest,
): { readonly mediaType: string; readonly bytes: Bytes } {
  const { mediaType } = first.source
  const bytes = more.length === 0 ? bytesOf(first) : joined([first, ...more])
  const wrap = wrapping(mediaType, request)
  if (wrap === undefined) return { mediaType, bytes }
  return wrap === 'raw' ? { mediaType: RAW, bytes } : { mediaType: WAV, bytes: asWav(bytes, mediaType) }
}

const bytesOf = ({ source }: Recording): Bytes =>
  source.type === 'bytes' ? source.bytes : new HeldBytes(Buffer.from(source.data, 'base64'))

const joined = (parts: readonly Recording[]): Bytes =>
  new HeldBytes(Buffer.concat(parts.map(part => (bytesOf(part) as HeldBytes).bytes)))

function asWav(samples: Bytes, mediaType: string): Bytes {
  const header = wavHeader(samplesOf(mediaType)!, samples.size)
  if (samples instanceof HeldBytes) return new HeldBytes(Buffer.concat([header, samples.bytes]))
  return {
    ...(samples.size === undefined ? {} : { size: samples.size + WAV_HEADER }),
    ...(samples.once === undefined ? {} : { once: samples.once }),
    async *read() {
      yield header
      yield* samples.read()
    },
  }
}
