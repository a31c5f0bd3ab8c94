import { randomFillSync } from 'node:crypto'
import { flatJoin } from '../../canonical/text.ts'

const BYTES = 16

/** Random bytes for 256 ids, drawn together because each draw costs more per call than per byte. */
const pool = Buffer.alloc(BYTES * 256)
let used = pool.length

/** Creates a unique id: 32 random hex digits. */
export function freshId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += BYTES
  return pool.toString('hex', used - BYTES, used)
}

/** Returns the time in an id that `requestId` created, in Unix milliseconds, or undefined for any other id. */
export function timeOfId(id: string): number | undefined {
  const match = /^req_([0-9a-f]{12})[0-9a-f]{20}$/.exec(id)
  return match === null ? undefined : Number.parseInt(match[1]!, 16)
}

/**
 * Creates a unique id of 32 hex digits: 12 for the time, the others random. Ids created in sequence are neighbours in
 * an index, so that inserts touch few pages.
 *
 * @param at Unix milliseconds.
 * @param random 32 random hex digits.
 */
export const timedId = (at = Date.now(), random = freshId()): string => flatJoin(hexOf(at), random.slice(12))

let hexAt = -1
let hex = ''

/** Formats a time as 12 hex digits. Caches the last result, because many ids are created per millisecond. */
function hexOf(at: number): string {
  if (at !== hexAt) {
    hex = at.toString(16).padStart(12, '0')
    hexAt = at
  }
  return hex
}

/**
 * Creates the id of a request that starts now: `req_` and 32 hex digits, 12 of them the time, by which the usage row is
 * found.
 *
 * @param at Unix milliseconds.
 * @param random 32 random hex digits.
 */
export const requestId = (at = Date.now(), random = freshId()): string => flatJoin('req_', timedId(at, random))
