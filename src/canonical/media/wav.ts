import { decodeBase64 } from '../base64.ts'

/** Sample rate and channel count of raw samples. */
export interface Samples {
  /** Number of samples per second and channel. */
  readonly rate: number
  readonly channels: number
}

/** Default for raw samples whose format is not declared. */
export const DEFAULT_SAMPLES: Samples = { rate: 24_000, channels: 1 }

/**
 * Parses the media type of raw samples, such as `audio/L16;codec=pcm;rate=24000` or `audio/pcm`. Returns undefined for
 * any other media type.
 */
export function samplesOf(mediaType: string): Samples | undefined {
  const [type, ...parameters] = mediaType.toLowerCase().split(';')
  if (type?.trim() !== 'audio/l16' && type?.trim() !== 'audio/pcm') return undefined
  const countOf = (name: string): number | undefined => {
    const parameter = parameters.find(one => one.trim().startsWith(`${name}=`))
    return parameter === undefined ? undefined : parsedCount(parameter.slice(parameter.indexOf('=') + 1))
  }
  return { rate: countOf('rate') ?? DEFAULT_SAMPLES.rate, channels: countOf('channels') ?? DEFAULT_SAMPLES.channels }
}

/**
 * Returns the media type of raw samples with their rate, in Google's spelling. Returns any other media type, and one
 * that states a rate, unchanged.
 */
export function withRate(mediaType: string): string {
  const samples = samplesOf(mediaType)
  if (samples === undefined || /;\s*rate=\d/i.test(mediaType)) return mediaType
  const { rate, channels } = samples
  return `audio/L16;codec=pcm;rate=${rate}${channels === 1 ? '' : `;channels=${channels}`}`
}

const parsedCount = (text: string): number | undefined => {
  const count = Number(text)
  return Number.isInteger(count) && count > 0 && count < 2 ** 20 ? count : undefined
}

/** Length of the header from `wavHeader`, in bytes. */
export const WAV_HEADER_SIZE = 44
/** Maximum size that the header can state, also used for streams of unknown length. */
const UNKNOWN_SIZE = 0xffff_ffff

/**
 * Creates a WAV header for raw 16-bit little-endian samples.
 *
 * @param size total size of the samples in bytes. Undefined for a stream, which players play to its end.
 */
export function wavHeader({ rate, channels }: Samples, size?: number): Uint8Array {
  const fitsHeader = size !== undefined && size + WAV_HEADER_SIZE - 8 < UNKNOWN_SIZE
  const header = new Uint8Array(WAV_HEADER_SIZE)
  const view = new DataView(header.buffer)
  const write = (text: string, at: number): void => void new TextEncoder().encodeInto(text, header.subarray(at))
  write('RIFF', 0)
  view.setUint32(4, fitsHeader ? size + WAV_HEADER_SIZE - 8 : UNKNOWN_SIZE, true)
  write('WAVEfmt ', 8)
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, Math.min(channels, 0xffff), true)
  view.setUint32(24, rate, true)
  view.setUint32(28, Math.min(rate * channels * 2, UNKNOWN_SIZE), true)
  view.setUint16(32, Math.min(channels * 2, 0xffff), true)
  view.setUint16(34, 16, true)
  write('data', 36)
  view.setUint32(40, fitsHeader ? size : UNKNOWN_SIZE, true)
  return header
}

/** The header of a WAV file: the format of its samples, and where they start. */
export interface WavHead extends Samples {
  /** Number of bits per sample of one channel. */
  readonly bits: number
  readonly encoding: 'integer' | 'float'
  /** Number of bytes before the first sample. */
  readonly offset: number
  /** Total size of the samples, in bytes. It is undefined if the header does not state it. */
  readonly size: number | undefined
}

/** Sample encodings by the format code of the `fmt` chunk. */
const ENCODINGS: { readonly [code: number]: WavHead['encoding'] } = { 1: 'integer', 3: 'float' }
/** Format code of WAVE_FORMAT_EXTENSIBLE. The actual code is in the first two bytes of the sub-format, at offset 24. */
const EXTENSIBLE_CODE = 0xfffe

/**
 * Reads the header of a WAV file. Returns `more` if the header continues beyond these bytes, and undefined if the file
 * is not a supported WAV file.
 */
export function readWavHead(bytes: Uint8Array): WavHead | 'more' | undefined {
  if (bytes.length < 12 || nameAt(bytes, 0) !== 'RIFF' || nameAt(bytes, 8) !== 'WAVE') return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let format: Omit<WavHead, 'offset' | 'size'> | undefined
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = nameAt(bytes, at)
    const size = view.getUint32(at + 4, true)
    const offset = at + 8
    if (name === 'data')
      return format && { ...format, offset, size: size === 0 || size === UNKNOWN_SIZE ? undefined : size }
    if (name === 'fmt ') {
      if (offset + size > bytes.length) return 'more'
      format = readFormat(bytes.subarray(offset, offset + size))
      if (format === undefined) return undefined
    }
    at = offset + size + (size % 2)
  }
  return 'more'
}

/** Returns the four-letter chunk name at an offset. */
const nameAt = (bytes: Uint8Array, at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4))

function readFormat(bytes: Uint8Array): Omit<WavHead, 'offset' | 'size'> | undefined {
  if (bytes.length < 16) return undefined
  const chunk = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const code = chunk.getUint16(0, true)
  const encoding = ENCODINGS[code === EXTENSIBLE_CODE && bytes.length >= 26 ? chunk.getUint16(24, true) : code]
  const [channels, rate, bits] = [chunk.getUint16(2, true), chunk.getUint32(4, true), chunk.getUint16(14, true)]
  return encoding === undefined || channels === 0 || rate === 0 ? undefined : { rate, channels, bits, encoding }
}

/**
 * Returns true if an audio file contains no sound because it is empty or a WAV header without samples. A longer file is
 * not empty, even if its chunks cannot be followed to the samples: some programs forget to pad chunks of odd size.
 */
export function isEmptyAudio(bytes: Uint8Array): boolean {
  if (bytes.length === 0) return true
  if (bytes.length > MAX_HEAD_SIZE) return false
  const head = readWavHead(bytes)
  return head === 'more' || (head !== undefined && head.offset >= bytes.length)
}

/** Number of bytes that cover a WAV header with its usual chunks. */
const MAX_HEAD_SIZE = 750
/** Number of base64 characters that cover such a header. */
const MAX_HEAD_LENGTH = (MAX_HEAD_SIZE / 3) * 4

/** Returns true if an audio file in base64 contains no sound. */
export const isEmptyAudioBase64 = (data: string): boolean =>
  data.length < MAX_HEAD_LENGTH && isEmptyAudio(decodeBase64(data))
