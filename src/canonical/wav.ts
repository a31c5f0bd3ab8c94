/** How raw 16-bit samples are to be played. */
export interface Samples {
  /** A second has so many of each channel. */
  readonly rate: number
  readonly channels: number
}

/** What every service of this field sends where it says nothing else. */
const USUAL: Samples = { rate: 24_000, channels: 1 }

/** How to play raw samples of the media type (`audio/L16;codec=pcm;rate=24000`, `audio/pcm`); undefined for any other. */
export function samplesOf(mediaType: string): Samples | undefined {
  const [type, ...parameters] = mediaType.toLowerCase().split(';')
  if (type?.trim() !== 'audio/l16' && type?.trim() !== 'audio/pcm') return undefined
  const countOf = (name: string): number | undefined => {
    const said = parameters.find(one => one.trim().startsWith(`${name}=`))
    return said === undefined ? undefined : counted(said.slice(said.indexOf('=') + 1))
  }
  return { rate: countOf('rate') ?? USUAL.rate, channels: countOf('channels') ?? USUAL.channels }
}

const counted = (text: string): number | undefined => {
  const count = Number(text)
  return Number.isInteger(count) && count > 0 && count < 2 ** 20 ? count : undefined
}

/** Bytes of the header `wavHeader` makes. */
export const WAV_HEADER = 44
const UNKNOWN = 0xffff_ffff

/**
 * What stands before raw little-endian samples to make them a WAV file; `size` is their bytes, absent where they are
 * still coming: players then play to the end.
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
