/*
 * The simplest possible frames of H.264 (ITU-T H.264, baseline profile): two areas of one color each, whose border
 * moves to the right from frame to frame. Each color is written once as samples and copied to neighboring blocks.
 */

/** A bit buffer that writes syntax elements (§9.1). */
class Bits {
  private readonly bytes: number[] = []
  private held = 0
  private count = 0

  put(value: number, length: number): this {
    for (let bit = length - 1; bit >= 0; bit--) {
      this.held = (this.held << 1) | ((value >> bit) & 1)
      if (++this.count === 8) this.flush()
    }
    return this
  }

  /** Writes unsigned numbers of any size, `ue(v)`. */
  ue(...values: readonly number[]): this {
    for (const value of values) {
      const length = Math.floor(Math.log2(value + 1))
      this.put(0, length).put(value + 1, length + 1)
    }
    return this
  }

  /** Pads to a whole byte with zero bits. */
  align(): this {
    return this.count === 0 ? this : this.put(0, 8 - this.count)
  }

  fill(value: number, times: number): this {
    for (let at = 0; at < times; at++) this.put(value, 8)
    return this
  }

  /** Ends a NAL unit: adds the stop bit, and escapes byte sequences that would begin another unit (§7.4.1). */
  unit(header: number): Buffer {
    this.put(1, 1).align()
    const out = [header]
    for (const byte of this.bytes) {
      if (byte <= 3 && out.length > 2 && out.at(-1) === 0 && out.at(-2) === 0) out.push(3)
      out.push(byte)
    }
    return Buffer.from(out)
  }

  private flush(): void {
    this.bytes.push(this.held)
    this.held = 0
    this.count = 0
  }
}

/** The size of a frame in pixels; frames consist of blocks of 16 by 16. */
export interface Raster {
  readonly width: number
  readonly height: number
}

const columnsOf = ({ width }: Raster): number => Math.ceil(width / 16)
const rowsOf = ({ height }: Raster): number => Math.ceil(height / 16)

/** Luma and the two chroma samples of the areas left and right of the border. */
const DONE = [122, 158, 96] as const
const OPEN = [52, 138, 124] as const

/** The sequence parameter set (§7.3.2.1): level 4, one reference frame. */
export function sequenceUnit(raster: Raster): Buffer {
  const [columns, rows] = [columnsOf(raster), rowsOf(raster)]
  const bits = new Bits().put(66, 8).put(0xc0, 8).put(40, 8).ue(0, 0, 2, 1).put(0, 1)
  bits.ue(columns - 1, rows - 1).put(0b111, 3)
  bits.ue(0, (columns * 16 - raster.width) >> 1, 0, (rows * 16 - raster.height) >> 1)
  return bits.put(0, 1).unit(0x67)
}

/** The picture parameter set (§7.3.2.2): variable-length codes, no deblocking. */
export const pictureUnit = (): Buffer =>
  new Bits().ue(0, 0).put(0, 2).ue(0, 0, 0).put(0, 3).ue(0, 0, 0).put(0b100, 3).unit(0x68)

/** The prediction modes that copy a block from the left or from above. */
const COPY = { left: { type: 2, chroma: 1 }, above: { type: 1, chroma: 2 } } as const

/**
 * Writes a block that copies a neighbor (§7.3.5); `besideSamples` means that a neighbor is written as samples (§9.2.1).
 */
function copy(bits: Bits, from: keyof typeof COPY, offset: number, besideSamples: boolean): void {
  const { type, chroma } = COPY[from]
  bits.ue(type + offset, chroma, 0)
  if (besideSamples) bits.put(0b000011, 6)
  else bits.put(1, 1)
}

function samples(bits: Bits, [brightness, blue, red]: readonly [number, number, number]): void {
  bits.ue(25).align().fill(brightness, 256).fill(blue, 64).fill(red, 64)
}

/** Writes the first frame, which refers to no other, with its border before the given column. */
export function firstFrame(raster: Raster, border: number): Buffer {
  const bits = new Bits().ue(0, 7, 0).put(0, 4).ue(0).put(0, 2).ue(0, 1)
  const isSamples = (column: number, row: number): boolean => row === 0 && (column === 0 || column === border)
  for (let row = 0; row < rowsOf(raster); row++)
    for (let column = 0; column < columnsOf(raster); column++)
      if (isSamples(column, row)) samples(bits, column === 0 ? DONE : OPEN)
      else copy(bits, row === 0 ? 'left' : 'above', 0, isSamples(column - 1, row) || isSamples(column, row - 1))
  return bits.unit(0x65)
}

/** Writes a frame that moves the border of the frame before; `number` counts frames from the first. */
export function nextFrame(raster: Raster, number: number, before: number, border: number): Buffer {
  const bits = new Bits()
    .ue(0, 5, 0)
    .put(number % 16, 4)
    .put(0, 3)
    .ue(0, 1)
  let skipped = 0
  for (let row = 0; row < rowsOf(raster); row++)
    for (let column = 0; column < columnsOf(raster); column++)
      if (column < before || column >= border) skipped++
      else {
        bits.ue(skipped)
        skipped = 0
        copy(bits, row === 0 ? 'left' : 'above', 5, false)
      }
  if (skipped > 0) bits.ue(skipped)
  return bits.unit(0x41)
}

/** The column of the border in one of several frames; both areas are always visible. */
export const borderAt = (raster: Raster, frame: number, frames: number): number =>
  1 + Math.floor(((columnsOf(raster) - 2) * frame) / Math.max(1, frames - 1))
