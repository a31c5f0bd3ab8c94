/** Rate and channels of raw samples. */
export interface Samples {
  /** Number of samples per second and channel. */
  readonly rate: number
  readonly channels: number
}

/** Format assumed for raw samples that do not declare one. */
export const DEFAULT_SAMPLES: Samples = { rate: 24_000, channels: 1 }

/**
 * Parses the media type of raw samples, such as `audio/L16;codec=pcm;rate=24000` or `audio/pcm`. Undefined for any
 * other media type.
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

const parsedCount = (text: string): number | undefined => {
  const count = Number(text)
  return Number.isInteger(count) && count > 0 && count < 2 ** 20 ? count : undefined
}

/** Length of the header from `wavHeader`, in bytes. */
export const WAV_HEADER = 44
/** Maximum size that the header can state. Streams of unknown length state it, too. */
const UNKNOWN = 0xffff_ffff

/**
 * Creates a WAV header for raw 16-bit little-endian samples.
 *
 * @param size size of all samples in bytes. Undefined for a stream. Players play a stream to its end.
 */
export function wavHeader({ rate, channels }: Samples, size?: number): Buffer {
  const known = size !== undefined && size + WAV_HEADER - 8 < UNKNOWN
  const header = Buffer.alloc(WAV_HEADER)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(known ? size + WAV_HEADER - 8 : UNKNOWN, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(Math.min(channels, 0xffff), 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(Math.min(rate * channels * 2, UNKNOWN), 28)
  header.writeUInt16LE(Math.min(channels * 2, 0xffff), 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(known ? size : UNKNOWN, 40)
  return header
}

/** The header of a WAV file: the format of its samples, and where they start. */
export interface WavHead extends Samples {
  /** Number of bits per sample of one channel. */
  readonly bits: number
  readonly encoding: 'integer' | 'float'
  /** Number of bytes before the first sample. */
  readonly offset: number
  /** Size of all samples, in bytes. Undefined if the header does not state it. */
  readonly size: number | undefined
}

/** Sample encodings by the format code of the `fmt` chunk. */
const ENCODINGS: { readonly [code: number]: WavHead['encoding'] } = { 1: 'integer', 3: 'float' }
/** Format code of WAVE_FORMAT_EXTENSIBLE. The actual code is the first two bytes of the sub-format, at offset 24. */
const EXTENSIBLE = 0xfffe

/**
 * Reads the header of a WAV file. Returns `more` if the header continues after these bytes, and undefined if this is
 * not a supported WAV file.
 */
export function readWavHead(bytes: Uint8Array): WavHead | 'more' | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (file.length < 12 || file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE')
    return undefined
  let format: Omit<WavHead, 'offset' | 'size'> | undefined
  for (let at = 12; at + 8 <= file.length; ) {
    const name = file.toString('latin1', at, at + 4)
    const size = file.readUInt32LE(at + 4)
    const offset = at + 8
    if (name === 'data') return format && { ...format, offset, size: size === 0 || size === UNKNOWN ? undefined : size }
    if (name === 'fmt ') {
      if (offset + size > file.length) return 'more'
      format = readFormat(file.subarray(offset, offset + size))
      if (format === undefined) return undefined
    }
    at = offset + size + (size % 2)
  }
  return 'more'
}

function readFormat(chunk: Buffer): Omit<WavHead, 'offset' | 'size'> | undefined {
  if (chunk.length < 16) return undefined
  const code = chunk.readUInt16LE(0)
  const encoding = ENCODINGS[code === EXTENSIBLE && chunk.length >= 26 ? chunk.readUInt16LE(24) : code]
  const [channels, rate, bits] = [chunk.readUInt16LE(2), chunk.readUInt32LE(4), chunk.readUInt16LE(14)]
  return encoding === undefined || channels === 0 || rate === 0 ? undefined : { rate, channels, bits, encoding }
}

/** Whether an audio file contains no sound: it is empty, or a WAV header without samples. */
export function isEmptyAudio(bytes: Uint8Array): boolean {
  if (bytes.length === 0) return true
  const head = readWavHead(bytes)
  return head === 'more' || (head !== undefined && head.offset >= bytes.length)
}

/** Number of base64 characters that cover any WAV header. */
const MAX_HEAD_LENGTH = 1000

/** Whether an audio file in base64 contains no sound. */
export const isEmptyAudioBase64 = (data: string): boolean =>
  data.length < MAX_HEAD_LENGTH && isEmptyAudio(Buffer.from(data, 'base64'))
