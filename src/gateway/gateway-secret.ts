import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GatewayError } from '../canonical/error.ts'
import { LogOnce } from '../log.ts'
import type { SharedRecords } from '../store/shared-records.ts'

/** Name of the secret in the store. */
const SECRET_NAME = 'seals'
/** File in which earlier versions stored the secret. */
const EARLIER_FILE = 'compaction.key'

/** Options of `GatewaySecret`. */
export interface GatewaySecretOptions {
  readonly shared: SharedRecords
  /** Returns the folder in which earlier versions stored the secret. */
  readonly dataDir: () => string
  /** Called once per kind of fault of that file, however often loading fails. */
  readonly onFault: (thrown: unknown) => void
}

/**
 * The gateway's encryption secret: 32 bytes in the store, created by the first instance that needs them and shared by
 * all instances. The key file of an earlier version is copied into the store, so that older state can still be
 * decrypted. The file is not deleted.
 */
export class GatewaySecret {
  private readonly options: GatewaySecretOptions
  private readonly faults: LogOnce
  private secret: Buffer | undefined
  private loading: Promise<Buffer> | undefined

  constructor(options: GatewaySecretOptions) {
    this.options = options
    this.faults = new LogOnce(options.onFault)
  }

  /** The secret, if it was already loaded. */
  get loaded(): Buffer | undefined {
    return this.secret
  }

  /** Loads the secret once. Rejects if the secret is unavailable. The next call then tries again. */
  async load(): Promise<Buffer> {
    if (this.secret !== undefined) return this.secret
    this.loading ??= this.loadOrCreate()
    try {
      this.secret = await this.loading
      return this.secret
    } catch (thrown) {
      // The store reports its own faults.
      if (!(thrown instanceof GatewayError)) this.faults.log(thrown)
      throw thrown
    } finally {
      this.loading = undefined
    }
  }

  private async loadOrCreate(): Promise<Buffer> {
    const { shared, dataDir } = this.options
    const existing = await shared.secret(SECRET_NAME)
    const secret =
      existing ?? (await shared.createSecret(SECRET_NAME, readEarlierFile(dataDir()) ?? randomBytes(KEY_BYTES)))
    if (secret.length !== KEY_BYTES) throw new Error(`the secret "${SECRET_NAME}" in the store is damaged`)
    return Buffer.from(secret)
  }
}

function readEarlierFile(dataDir: string): Buffer | undefined {
  const path = join(dataDir, EARLIER_FILE)
  try {
    const key = readFileSync(path)
    if (key.length === KEY_BYTES) return key
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  }
  throw new Error(`${path} is damaged: it should hold ${KEY_BYTES} bytes`)
}

const CIPHER = 'aes-256-gcm'
/** Length of the key, in bytes. */
const KEY_BYTES = 32
/** Length of a nonce, in bytes. */
const NONCE_BYTES = 12
/** Length of an authentication tag, in bytes. */
const TAG_BYTES = 16

/**
 * Encrypts a string with AES-256-GCM. Returns nonce, ciphertext and tag in one buffer.
 *
 * @param authenticatedData additional authenticated data (AAD). The text decrypts only with the same value.
 */
export function encryptText(key: Buffer, text: string, authenticatedData: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(authenticatedData)
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts the result of `encryptText`. Returns undefined if the key, the authenticated data or the bytes differ. */
export function decryptText(key: Buffer, bytes: Buffer, authenticatedData: Buffer): string | undefined {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  try {
    const cipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    cipher.setAAD(authenticatedData).setAuthTag(bytes.subarray(-TAG_BYTES))
    return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), cipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
