import { randomFillSync } from 'node:crypto'
import { flatJoin } from '../../canonical/text.ts'

const BYTES = 16

/** Random bytes for so many names are drawn at once. */
const pool = Buffer.alloc(BYTES * 256)
let used = pool.length

/** A unique name: 32 random hexadecimal digits. */
export function freshId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += BYTES
  return pool.toString('hex', used - BYTES, used)
}

/** The time at which an id was made that `requestId` made; Unix milliseconds. */
export function timeOfId(id: string): number | undefined {
  const match = /^req_([0-9a-f]{12})[0-9a-f]{20}$/.exec(id)
  return match === null ? undefined : Number.parseInt(match[1]!, 16)
}

/**
 * A unique name: 32 hexadecimal digits, of which 12 are the time and the others random. Names made one after the other stand beside each
 * other in an index, which then is written in few places.
 *
 * @param at Unix milliseconds.
 * @param random 32 random hexadecimal digits.
 */
export const timedId = (at = Date.now(), random = freshId()): string => flatJoin(hexOf(at), random.slice(12))

let hexAt = -1
let hex = ''

/** A time as 12 hexadecimal digits; those of the last one are kept, as many names are made in a millisecond. */
function hexOf(at: number): string {
  if (at !== hexAt) {
    hex = at.toString(16).padStart(12, '0')
    hexAt = at
  }
  return hex
}

/**
 * The id of a request that begins now, for its caller and the log: `req_` and 32 hexadecimal digits, of which 12 are its time, so that its
 * row is found, and the others random.
 *
 * @param at Unix milliseconds.
 * @param random 32 random hexadecimal digits.
 */
export const requestId = (at = Date.now(), random = freshId()): string => flatJoin('req_', timedId(at, random))
