import { randomFillSync } from 'node:crypto'

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
