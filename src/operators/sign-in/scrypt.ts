import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { rateLimited } from '../../canonical/error.ts'

/**
 * scrypt parameters as recommended by OWASP: cost (a power of two), block size, parallelism. One hash takes 32 MiB and
 * about 300 ms.
 */
const COST = { log: 15, r: 8, p: 3 }
const SALT_BYTES = 16
const HASH_BYTES = 32
/** Upper bounds for stored parameters. Larger values would take too much time and memory. */
const MAX_COST = { log: 20, r: 32, p: 16 }

const STORED_HASH = /^scrypt\$(\d{1,2})\$(\d{1,2})\$(\d{1,2})\$([\w-]+)\$([\w-]+)$/

/** Maximum number of hashes computed concurrently. */
const MAX_RUNNING = 2
/** Maximum number of hashes that wait for one of them to finish. */
const MAX_WAITING = 50

/** Thrown if too many passwords are being checked. */
export const TOO_BUSY = rateLimited('Too many passwords are being checked. Try again in a moment.', 2)

let runningCount = 0
const queue: (() => void)[] = []

/** Limits concurrent hashing, because each hash takes a pool thread and memory. Throws TOO_BUSY. */
async function limitConcurrency<T>(work: () => Promise<T>): Promise<T> {
  if (runningCount < MAX_RUNNING) runningCount++
  else {
    if (queue.length >= MAX_WAITING) throw TOO_BUSY
    await new Promise<void>(resolve => queue.push(resolve))
  }
  try {
    return await work()
  } finally {
    const next = queue.shift()
    if (next === undefined) runningCount--
    else next()
  }
}

const deriveKey = (password: string, salt: Buffer, { log, r, p }: typeof COST, size: number): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(
      // Keyboards may produce the same characters in different Unicode forms (NIST SP 800-63B, section 5.1.1.2).
      password.normalize('NFKC'),
      salt,
      size,
      { N: 2 ** log, r, p, maxmem: 129 * 2 ** log * r * p },
      (fault, key) => (fault === null ? resolve(key) : reject(fault)),
    ),
  )

/** Hashes a password for storage: parameters, salt and hash, as `scrypt$15$8$3$SALT$HASH`. Rejects with TOO_BUSY. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const key = await limitConcurrency(() => deriveKey(password, salt, COST, HASH_BYTES))
  const { log, r, p } = COST
  return `scrypt$${log}$${r}$${p}$${salt.toString('base64url')}$${key.toString('base64url')}`
}

/** A hash that matches no password. Checked for unknown users, so that they take as long as known ones. */
const NO_PASSWORD = `scrypt$${COST.log}$${COST.r}$${COST.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`

/**
 * Returns true if a password matches a stored hash. Without a stored hash, returns false after the same time.
 * Rejects with TOO_BUSY.
 *
 * @param stored a hash as returned by `hashPassword`.
 */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const match = STORED_HASH.exec(stored ?? NO_PASSWORD) ?? STORED_HASH.exec(NO_PASSWORD)!
  const [log, r, p] = [Number(match[1]), Number(match[2]), Number(match[3])]
  if (log > MAX_COST.log || r > MAX_COST.r || p > MAX_COST.p)
    throw new Error('a stored password hash has excessive scrypt parameters')
  const expected = Buffer.from(match[5]!, 'base64url')
  const key = await limitConcurrency(() =>
    deriveKey(password, Buffer.from(match[4]!, 'base64url'), { log, r, p }, expected.length),
  )
  return timingSafeEqual(key, expected) && stored !== undefined
}
