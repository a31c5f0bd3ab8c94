import { INTERVALS } from './usage/histogram.ts'
import { LATER_COLUMNS, SUM_COLUMNS } from './usage-tables.ts'

/**
 * Layout of a sum: the values of `SUM_COLUMNS`, a histogram of times to the first byte, a histogram of durations, the
 * values of `LATER_COLUMNS`.
 */
export const FIRST_BYTES = SUM_COLUMNS.length
export const DURATIONS = FIRST_BYTES + INTERVALS
export const LATER = DURATIONS + INTERVALS
const WIDTH = LATER + LATER_COLUMNS.length

/** Sums over requests, as one list of numbers with the layout above. */
export type Sum = number[]

/** Filling with a fraction first makes V8 use an array of doubles, which is faster to create than a typed array. */
const EMPTY: Sum = new Array<number>(WIDTH).fill(0.5).fill(0)

/** Creates a sum of zeros. */
export const emptySum = (): Sum => EMPTY.slice()

/** Sums by series id. */
export type Sums = Map<number, Sum>

/** Number of bytes before each packed sum: the series id as two 32-bit numbers, and the length of the sum. */
const HEAD = 4 + 4 + 2
/** Maximum size of a packed sum, in bytes: per value an index and up to 80 bits. */
const LONGEST = HEAD + 12 * WIDTH
const LOW = 2 ** 32

let scratch = Buffer.allocUnsafe(64 * 1024)

/**
 * Packs sums into bytes. A sum consists of the series id, the length, the values as varints (7 bits per byte), and
 * index and value of the later columns and histogram intervals that are not 0.
 */
export function packed(sums: Sums): Buffer {
  let end = 0
  for (const [series, sum] of sums) {
    if (scratch.length < end + LONGEST) scratch = Buffer.concat([scratch], 2 * scratch.length)
    const begin = end
    end = begin + HEAD
    for (let at = 0; at < FIRST_BYTES; at++) end = write(sum[at]!, end)
    end = writeSparse(sum, LATER, WIDTH, end)
    end = writeSparse(sum, FIRST_BYTES, LATER, end)
    scratch.writeUInt32LE(Math.floor(series / LOW), begin)
    scratch.writeUInt32LE(series % LOW, begin + 4)
    scratch.writeUInt16LE(end - begin - HEAD, begin + 8)
  }
  return Buffer.from(scratch.subarray(0, end))
}

/** Writes the values of a range that are not 0, each after its index. */
function writeSparse(sum: Sum, from: number, to: number, begin: number): number {
  let end = begin
  for (let at = from; at < to; at++) {
    if (sum[at] === 0) continue
    scratch[end++] = at
    end = write(sum[at]!, end)
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
  for (let begin = 0; begin + HEAD <= data.length; ) {
    const end = begin + HEAD + view.getUint16(begin + 8, true)
    const sum = sumOf(view.getUint32(begin, true) * LOW + view.getUint32(begin + 4, true))
    if (sum !== undefined) addTo(sum, data, begin + HEAD, end, timings)
    begin = end
  }
}

function addTo(sum: Sum, data: Uint8Array, begin: number, end: number, timings: boolean): void {
  for (let from = begin, at = 0; from < end; at++) {
    if (at >= FIRST_BYTES) {
      at = data[from++]!
      if (!timings && at < LATER) return
    }
    let byte = data[from++]!
    let value = byte & 127
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = data[from++]!
      value += (byte & 127) * scale
    }
    sum[at]! += value
  }
}

/** Merges several packed parts into one. */
export function merged(parts: readonly Uint8Array[]): Buffer {
  const sums: Sums = new Map()
  for (const part of parts) unpack(part, series => sumIn(sums, series), true)
  return packed(sums)
}

/** Returns the sum of a series, created on first use. */
export function sumIn(sums: Sums, series: number): Sum {
  const known = sums.get(series)
  if (known !== undefined) return known
  const sum = emptySum()
  sums.set(series, sum)
  return sum
}
