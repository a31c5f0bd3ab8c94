import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SEAL } from '../../canonical/sealed.ts'
import { LogOnce } from '../../log/index.ts'
import { storeFailure } from '../../store/fault.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Seals and opens texts for one caller; those of another caller do not open. Throws OwnFailure where there is no key. */
export interface Seal {
  /** Throws as the others do, where nothing can be sealed. */
  check(): void
  seal(text: string): string
  /** The text; undefined for another caller's, for one of another gateway, and for one that was changed. */
  open(sealed: string): string | undefined
}

/**
 * Texts that callers keep for the gateway, encrypted (AES-256-GCM). The key is made when it is first needed and kept
 * in the data directory, readable by its owner alone; processes that share that directory open the same seals.
 */
export class Seals {
  readonly dataDir: string
  private readonly faults: LogOnce
  private key: Buffer | undefined

  /** @param onFault called once a kind of fault, however often the key is missing. */
  constructor(dataDir: string, onFault: (thrown: unknown) => void = () => {}) {
    this.dataDir = dataDir
    this.faults = new LogOnce(onFault)
  }

  /** @param owner stable for the caller's key, and no other's. */
  of(owner: string): Seal {
    const about = (): Buffer => Buffer.from(`interlingua ${SEAL}\n${owner}`)
    return {
      check: () => void this.secret(),
      seal: text => SEAL + encrypted(this.secret(), text, about()).toString('base64url'),
      open: sealed => decrypted(this.secret(), Buffer.from(sealed.slice(SEAL.length), 'base64url'), about()),
    }
  }

  private secret(): Buffer {
    try {
      this.key ??= keyIn(this.dataDir)
      return this.key
    } catch (thrown) {
      this.faults.log(thrown)
      throw UNSEALED
    }
  }
}

/** Without a key that is kept, what is sealed today could not be opened tomorrow. */
const UNSEALED = storeFailure('The key that seals conversations cannot be had just now.')

function encrypted(key: Buffer, text: string, about: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(about)
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

function decrypted(key: Buffer, bytes: Buffer, about: Buffer): string | undefined {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  try {
    const cipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    cipher.setAAD(about).setAuthTag(bytes.subarray(-TAG_BYTES))
    return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), cipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** The key of a data directory; of several processes that make one at once, the first one's is everybody's. */
function keyIn(dataDir: string): Buffer {
  const path = join(dataDir, 'compaction.key')
  const there = read(path)
  if (there !== undefined) return there
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const fresh = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`
  writeFileSync(fresh, randomBytes(KEY_BYTES), { mode: 0o600, flag: 'wx' })
  try {
    linkSync(fresh, path)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
  } finally {
    rmSync(fresh, { force: true })
  }
  return read(path)!
}

function read(path: string): Buffer | undefined {
  try {
    const key = readFileSync(path)
    if (key.length === KEY_BYTES) return key
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  }
  throw new Error(`${path} is damaged: it should hold ${KEY_BYTES} bytes`)
}
