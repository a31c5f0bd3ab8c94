import { INTERVALS } from './usage/histogram.ts'
import { LATER_COLUMNS, SUM_COLUMNS } from './usage-tables.ts'

/**
 * Layout of a sum: the values of `SUM_COLUMNS`, a histogram of times to the first byte, a histogram of durations, the
 * values of `LATER_COLUMNS`.
 */
export const FIRST_BYTE_OFFSET = SUM_COLUMNS.length
export const DURATION_OFFSET = FIRST_BYTE_OFFSET + INTERVALS
export const LATER_OFFSET = DURATION_OFFSET + INTERVALS
const SUM_LENGTH = LATER_OFFSET + LATER_COLUMNS.length

/** Sums over requests, as one list of numbers with the layout above. */
export type Sum = number[]

/** Filling with a fraction first makes V8 use an array of doubles, which is faster to create than a typed array. */
const ZEROS: Sum = new Array<number>(SUM_LENGTH).fill(0.5).fill(0)

/** Creates a sum of zeros. */
export const emptySum = (): Sum => ZEROS.slice()

/** Sums by series id. */
export type Sums = Map<number, Sum>

/** Size of the header of each packed sum, in bytes: the series id as two 32-bit numbers, and the length of the sum. */
const HEADER_BYTES = 4 + 4 + 2
/** Maximum number of values of a sum, because each index is a byte. */
const MAX_SUM_LENGTH = 256
/** Maximum size of a packed sum, in bytes: per value an index and up to 80 bits. */
const MAX_SUM_BYTES = HEADER_BYTES + 12 * MAX_SUM_LENGTH
/** Number of values of an unsigned 32-bit integer. */
const UINT32_RANGE = 2 ** 32

let scratch = Buffer.allocUnsafe(64 * 1024)

/**
 * Packs sums into bytes. A sum consists of the series id, the length, the values as varints (7 bits per byte), and
 * index and value of the later columns and histogram intervals that are not 0.
 */
export function pack(sums: Sums): Buffer {
  let end = 0
  for (const [series, sum] of sums) {
    if (scratch.length < end + MAX_SUM_BYTES) scratch = Buffer.concat([scratch], 2 * scratch.length)
    const begin = end
    end = begin + HEADER_BYTES
    for (let at = 0; at < FIRST_BYTE_OFFSET; at++) end = write(sum[at]!, end)
    end = writeSparse(sum, LATER_OFFSET, sum.length, end)
    end = writeSparse(sum, FIRST_BYTE_OFFSET, LATER_OFFSET, end)
    scratch.writeUInt32LE(Math.floor(series / UINT32_RANGE), begin)
    scratch.writeUInt32LE(series % UINT32_RANGE, begin + 4)
    scratch.writeUInt16LE(end - begin - HEADER_BYTES, begin + 8)
  }
  return Buffer.from(scratch.subarray(0, end))
}

/** Writes the values of a range that are not 0, each after its index. */
function writeSparse(sum: Sum, from: number, to: number, begin: number): number {
  let end = begin
  for (let at = from; at < to; at++) {
    const value = sum[at]
    // A sum with values of a later version may have gaps.
    if (value === undefined || value === 0) continue
    scratch[end++] = at
    end = write(value, end)
  }
  return end
}

/** Writes a value as a varint and returns the index after it. */
function write(value: number, at: number): number {
  let rest = value
  let end = at
  while (rest >= 128) {
    scratch[end++] = (rest % 128) + 128
    rest = Math.floor(rest / 128)
  }
  scratch[end++] = rest
  return end
}

/**
 * Adds packed sums to the given sums.
 *
 * @param sumOf returns the sum for a series, or undefined to skip the series.
 * @param timings whether to add the histograms too.
 */
export function unpack(data: Uint8Array, sumOf: (series: number) => Sum | undefined, timings: boolean): void {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  for (let begin = 0; begin + HEADER_BYTES <= data.length; ) {
    const end = begin + HEADER_BYTES + view.getUint16(begin + 8, true)
    const sum = sumOf(view.getUint32(begin, true) * UINT32_RANGE + view.getUint32(begin + 4, true))
    if (sum !== undefined) addTo(sum, data, begin + HEADER_BYTES, end, timings)
    begin = end
  }
}

function addTo(sum: Sum, data: Uint8Array, begin: number, end: number, timings: boolean): void {
  for (let from = begin, at = 0; from < end; at++) {
    if (at >= FIRST_BYTE_OFFSET) {
      at = data[from++]!
      if (!timings && at < LATER_OFFSET) return
    }
    let byte = data[from++]!
    let value = byte & 127
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = data[from++]!
      value += (byte & 127) * scale
    }
    // A later version may have added values, which this version merges.
    sum[at] = (sum[at] ?? 0) + value
  }
}

/** Merges several packed parts into one. */
export function mergePacked(parts: readonly Uint8Array[]): Buffer {
  const sums: Sums = new Map()
  for (const part of parts) unpack(part, series => sumIn(sums, series), true)
  return pack(sums)
}

/** Returns the sum of a series, created on first use. */
export function sumIn(sums: Sums, series: number): Sum {
  const known = sums.get(series)
  if (known !== undefined) return known
  const sum = emptySum()
  sums.set(series, sum)
  return sum
}
