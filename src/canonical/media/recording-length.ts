import { BufferedBytes } from '../bytes.ts'
import type { MediaPart } from '../content.ts'
import { readWavHead } from './wav.ts'

/** Typical number of bytes of a second of compressed audio. */
export const BYTES_PER_AUDIO_SECOND = 16_000
/** Typical number of bytes of a second of video. */
export const BYTES_PER_VIDEO_SECOND = 250_000
/** Bytes of a second of the samples that recordings of speech usually have: 16 bits at 16 kHz. */
const BYTES_PER_WAV_SECOND = 32_000

/**
 * Estimates the length of an uploaded recording in seconds, from the size of its file. The length of a WAV file in
 * memory is exact. Returns undefined if the size is unknown.
 */
export function recordingLength({ kind, source }: MediaPart): number | undefined {
  if (source.type !== 'bytes') return undefined
  const { bytes, mediaType } = source
  const size = bytes.size ?? bytes.expectedSize
  if (size === undefined) return undefined
  if (kind === 'video') return size / BYTES_PER_VIDEO_SECOND
  return size / (bytesPerSecond(bytes) ?? (WAV.test(mediaType) ? BYTES_PER_WAV_SECOND : BYTES_PER_AUDIO_SECOND))
}

const WAV = /^audio\/(?:x-|vnd\.)?wave?\b/i

/** Returns the number of bytes of a second of a WAV file in memory, or undefined for any other file. */
function bytesPerSecond(file: object): number | undefined {
  const head = file instanceof BufferedBytes ? readWavHead(file.bytes) : undefined
  return head === undefined || head === 'more' ? undefined : (head.rate * head.channels * head.bits) / 8
}
