import { borderAt, firstFrame, nextFrame, pictureUnit, type Raster, sequenceUnit } from './frames.ts'

/** The requested size and length of a video. */
export interface Movie extends Raster {
  readonly seconds: number
}

const FRAMES_PER_SECOND = 8

const u8 = (...values: readonly number[]): Buffer => Buffer.from(values)
const u16 = (...values: readonly number[]): Buffer => Buffer.concat(values.map(value => u8(value >> 8, value & 255)))
const u32 = (...values: readonly number[]): Buffer =>
  Buffer.concat(values.map(value => u16(Math.floor(value / 65_536), value % 65_536)))

/** Writes a box of the base media file format (ISO/IEC 14496-12). */
function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([u32(body.length + 8), Buffer.from(type, 'latin1'), body])
}

/** Writes a box with version 0 and flags. */
const full = (type: string, flags: number, ...parts: readonly Buffer[]): Buffer => box(type, u32(flags), ...parts)

/** The identity transformation matrix. */
const UNITY = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)

/** Makes an MP4 file of one silent video track: a bar that grows from left to right, a few thousand bytes. */
export function movieOf(movie: Movie): Buffer {
  const frames = framesOf(movie)
  const head = box('ftyp', Buffer.from('isom'), u32(512), Buffer.from('isomiso2avc1mp41'))
  const offset = head.length + moov(movie, frames, 0).length + 8
  return Buffer.concat([head, moov(movie, frames, offset), box('mdat', ...frames)])
}

/** Makes the frames, each prefixed by its length. */
function framesOf(movie: Movie): readonly Buffer[] {
  const count = movie.seconds * FRAMES_PER_SECOND
  const borders = Array.from({ length: count }, (_, index) => borderAt(movie, index, count))
  return borders
    .map((border, index) =>
      index === 0 ? firstFrame(movie, border) : nextFrame(movie, index, borders[index - 1]!, border),
    )
    .map(unit => Buffer.concat([u32(unit.length), unit]))
}

function moov(movie: Movie, frames: readonly Buffer[], offset: number): Buffer {
  const { length } = frames
  const times = u32(0, 0)
  const header = full(
    'mvhd',
    0,
    ...[times, u32(FRAMES_PER_SECOND, length, 0x10000), u16(0x100, 0), u32(0, 0), UNITY, u32(0, 0, 0, 0, 0, 0, 2)],
  )
  const track = full(
    'tkhd',
    3,
    ...[times, u32(1, 0, length, 0, 0), u16(0, 0, 0, 0), UNITY, u32(movie.width * 65_536, movie.height * 65_536)],
  )
  const media = box(
    'mdia',
    full('mdhd', 0, times, u32(FRAMES_PER_SECOND, length), u16(0x55c4, 0)),
    full('hdlr', 0, u32(0), Buffer.from('vide'), u32(0, 0, 0), Buffer.from('replay\0')),
    box(
      'minf',
      full('vmhd', 1, u16(0, 0, 0, 0)),
      box('dinf', full('dref', 0, u32(1), full('url ', 1))),
      sampleTable(movie, frames, offset),
    ),
  )
  return box('moov', header, box('trak', track, media))
}

function sampleTable(movie: Movie, frames: readonly Buffer[], offset: number): Buffer {
  return box(
    'stbl',
    full('stsd', 0, u32(1), sampleEntry(movie)),
    full('stts', 0, u32(1, frames.length, 1)),
    full('stss', 0, u32(1, 1)),
    full('stsc', 0, u32(1, 1, frames.length, 1)),
    full('stsz', 0, u32(0, frames.length), u32(...frames.map(frame => frame.length))),
    full('stco', 0, u32(1, offset)),
  )
}

function sampleEntry(movie: Movie): Buffer {
  const [sequence, picture] = [sequenceUnit(movie), pictureUnit()]
  return box(
    'avc1',
    ...[u32(0), u16(0, 1), u32(0, 0, 0, 0), u16(movie.width, movie.height), u32(0x480000, 0x480000, 0), u16(1)],
    ...[Buffer.alloc(32), u16(24, 0xffff)],
    box(
      'avcC',
      ...[u8(1), sequence.subarray(1, 4), u8(0xff, 0xe1), u16(sequence.length), sequence],
      ...[u8(1), u16(picture.length), picture],
    ),
  )
}

/** Makes a lossless WebP of one color (RFC 9649), which is equal for all videos of a size. */
export function thumbnailOf({ width, height }: Raster): Buffer {
  // Signature, width, height, no alpha, no transforms, no color cache, no Huffman groups; then one symbol per channel.
  const fields: readonly (readonly [value: number, bits: number])[] = [
    ...([
      [0x2f, 8],
      [width - 1, 14],
      [height - 1, 14],
      [0, 4],
      [0, 3],
    ] as const),
    ...[0x7a, 0x60, 0x9e, 0xff].flatMap(
      symbol =>
        [
          [0b101, 3],
          [symbol, 8],
        ] as const,
    ),
    ...([
      [0b001, 3],
      [0, 1],
    ] as const),
  ]
  let bits = ''
  for (const [value, count] of fields) for (let bit = 0; bit < count; bit++) bits += (value >> bit) & 1
  const bytes = bits.match(/.{1,8}/g)!.map(byte => Number.parseInt([...byte.padEnd(8, '0')].reverse().join(''), 2))
  const data = Buffer.from(bytes.length % 2 === 0 ? bytes : [...bytes, 0])
  const size = Buffer.alloc(8)
  size.writeUInt32LE(data.length + 12, 0)
  size.writeUInt32LE(bytes.length, 4)
  return Buffer.concat([Buffer.from('RIFF'), size.subarray(0, 4), Buffer.from('WEBPVP8L'), size.subarray(4), data])
}
