import { randomFillSync } from 'node:crypto'
import { joined } from '../canonical/flat.ts'

const BYTES = 16

/** Random bytes for so many ids are drawn at once. */
const pool = Buffer.alloc(BYTES * 256)
let used = pool.length

/** Names a request to its caller and in the log: `req_` and 32 random hexadecimal digits. */
export function requestId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += BYTES
  return joined('req_', pool.toString('hex', used - BYTES, used))
}
