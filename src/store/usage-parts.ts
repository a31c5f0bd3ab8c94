import { INTERVALS } from './usage/histogram.ts'
import { LATER_COLUMNS, SUM_COLUMNS } from './usage-tables.ts'

/**
 * Where in a sum the counts of first bytes and of durations begin, and the values of `LATER_COLUMNS`; before are those of
 * `SUM_COLUMNS`.
 */
export const FIRST_BYTES = SUM_COLUMNS.length
export const DURATIONS = FIRST_BYTES + INTERVALS
export const LATER = DURATIONS + INTERVALS
const WIDTH = LATER + LATER_COLUMNS.length

/**
 * What is added up of requests: `SUM_COLUMNS`, then how many were within each interval of `BOUNDS`, twice, then
 * `LATER_COLUMNS`.
 */
export type Sum = number[]

/** Numbers of 64 bits in one piece of memory, as lists that held a fraction are: faster made than typed arrays. */
const EMPTY: Sum = new Array<number>(WIDTH).fill(0.5).fill(0)

export const emptySum = (): Sum => EMPTY.slice()

/** Sums by the number of their series. */
export type Sums = Map<number, Sum>

/** The series in two numbers, and the length of what follows. */
const HEAD = 4 + 4 + 2
/** Bytes that a sum has at most: numbers of up to 80 bits, and their places. */
const LONGEST = HEAD + 12 * WIDTH
const LOW = 2 ** 32

let scratch = Buffer.allocUnsafe(64 * 1024)

/**
 * Sums as bytes: of each the series and its values, in seven bits a byte, then the indexes and values of the later columns
 * and of the intervals that have any.
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

/** Writes the values of a range that are not 0, each behind its index. */
function writeSparse(sum: Sum, from: number, to: number, begin: number): number {
  let end = begin
  for (let at = from; at < to; at++) {
    if (sum[at] === 0) continue
    scratch[end++] = at
    end = write(sum[at]!, end)
  }
  return end
}

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
 * Adds what was packed to sums.
 *
 * @param sumOf what a series is added to; undefined for those that are not meant.
 * @param timings whether the intervals are added, too.
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

/** Several parts as one. */
export function merged(parts: readonly Uint8Array[]): Buffer {
  const sums: Sums = new Map()
  for (const part of parts) unpack(part, series => sumIn(sums, series), true)
  return packed(sums)
}

/** The sum of a series, which is begun where there is none. */
export function sumIn(sums: Sums, series: number): Sum {
  const known = sums.get(series)
  if (known !== undefined) return known
  const sum = emptySum()
  sums.set(series, sum)
  return sum
}
