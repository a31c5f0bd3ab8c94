import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { rateLimited } from '../../canonical/error.ts'

/** Cost (a power of two), block size and parallelism, as OWASP advises: 32 MiB and about 300 ms for a password. */
const COST = { log: 15, r: 8, p: 3 }
const SALT_BYTES = 16
const HASH_BYTES = 32
/** Bounds for parameters of what is stored: more could not be computed within reason. */
const MOST = { log: 20, r: 32, p: 16 }

const STORED = /^scrypt\$(\d{1,2})\$(\d{1,2})\$(\d{1,2})\$([\w-]+)\$([\w-]+)$/

/** Hashes that are computed at once, and that wait. */
const SLOTS = 2
const MOST_WAITING = 50

/** Why a password is not checked now. */
export const TOO_BUSY = rateLimited('Too many passwords are checked just now. Try again in a moment.', 2)

let running = 0
const waiting: (() => void)[] = []

/** Limits how many hashes are computed at once: each takes a thread of the pool, and memory. Throws TOO_BUSY. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running < SLOTS) running++
  else {
    if (waiting.length >= MOST_WAITING) throw TOO_BUSY
    await new Promise<void>(resolve => waiting.push(resolve))
  }
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

const derived = (password: string, salt: Buffer, { log, r, p }: typeof COST, size: number): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(
      // The same characters are typed differently on different keyboards (NIST SP 800-63B, section 5.1.1.2).
      password.normalize('NFKC'),
      salt,
      size,
      { N: 2 ** log, r, p, maxmem: 129 * 2 ** log * r * p },
      (fault, key) => (fault === null ? resolve(key) : reject(fault)),
    ),
  )

/** What is stored of a password: parameters, salt and hash, as `scrypt$15$8$3$SALT$HASH`. Rejects with TOO_BUSY. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const key = await inTurn(() => derived(password, salt, COST, HASH_BYTES))
  const { log, r, p } = COST
  return `scrypt$${log}$${r}$${p}$${salt.toString('base64url')}$${key.toString('base64url')}`
}

/** Of no password: what is computed for users that there are not. */
const NONE = `scrypt$${COST.log}$${COST.r}$${COST.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`

/**
 * Whether a password is the one that is stored; without one it takes as long, and is not. Rejects with TOO_BUSY.
 *
 * @param stored as `hashPassword` makes it.
 */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const match = STORED.exec(stored ?? NONE) ?? STORED.exec(NONE)!
  const [log, r, p] = [Number(match[1]), Number(match[2]), Number(match[3])]
  if (log > MOST.log || r > MOST.r || p > MOST.p) throw new Error('a stored password has parameters beyond reason')
  const expected = Buffer.from(match[5]!, 'base64url')
  const key = await inTurn(() => derived(password, Buffer.from(match[4]!, 'base64url'), { log, r, p }, expected.length))
  return timingSafeEqual(key, expected) && stored !== undefined
}
