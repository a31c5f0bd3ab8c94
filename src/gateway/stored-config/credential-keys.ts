import { hash, hkdfSync, randomBytes } from 'node:crypto'
import type { Secrets } from '../../config/secret-fields.ts'
import type { Config } from '../../config/types.ts'
import type { EncryptedSecrets, StoredEntry } from '../../store/config-records.ts'
import type { SharedRecords } from '../../store/shared-records.ts'
import { decryptText, encryptText } from '../gateway-secret.ts'

/** Name of the store's own secret, which is used if the config has none. */
export const STORED_SECRET = 'credentials'
const SECRET_BYTES = 32
const KEY_BYTES = 32
/** Number of hex digits of a key's id. */
const ID_LENGTH = 8

/** A key that encrypts the secrets of stored channels. */
export interface CredentialKey {
  /** Identifies the key without revealing it. Stored beside the secrets that the key encrypted. */
  readonly id: string
  readonly bytes: Buffer
}

/** Derives a key from a secret (HKDF, RFC 5869). */
export function credentialKey(secret: string | Uint8Array): CredentialKey {
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'interlingua credentials of channels', KEY_BYTES))
  return { id: hash('sha256', bytes, 'hex').slice(0, ID_LENGTH), bytes }
}

/** Name of the store's previous secret. It decrypts entries that another process wrote during the change. */
const PREVIOUS_SECRET = 'credentials-previous'

/** Returns the secrets that the store must hold after its secret was changed. */
export const replacedSecrets = (fresh: Uint8Array, previousSecret: Uint8Array | undefined) => [
  { name: STORED_SECRET, value: fresh },
  ...(previousSecret === undefined ? [] : [{ name: PREVIOUS_SECRET, value: previousSecret }]),
]

export const freshSecret = (): Uint8Array => randomBytes(SECRET_BYTES)

/** A gateway's keys, derived from the secrets in its config, or else from a secret in the store. */
export class CredentialKeys {
  private readonly records: Pick<SharedRecords, 'secret' | 'createSecret'>
  private readonly configured: () => Config['secrets'] | undefined

  constructor(
    records: Pick<SharedRecords, 'secret' | 'createSecret'>,
    configured: () => Config['secrets'] | undefined,
  ) {
    this.records = records
    this.configured = configured
  }

  /** Returns the key for encryption. Creates the store's secret if neither config nor store has one. */
  async current(): Promise<CredentialKey> {
    const configured = this.configured()
    if (configured !== undefined) return credentialKey(configured.key)
    const stored = await this.records.secret(STORED_SECRET)
    return credentialKey(stored ?? (await this.records.createSecret(STORED_SECRET, freshSecret())))
  }

  /** Returns all keys for decryption, by id. */
  all(): Promise<ReadonlyMap<string, CredentialKey>> {
    return allKeys(name => this.records.secret(name), this.configured())
  }
}

/** Returns all keys for decryption, by id, derived from the secrets of the config and of the store. */
export async function allKeys(
  secretOf: SharedRecords['secret'],
  { key, previous = [] }: Partial<NonNullable<Config['secrets']>> = {},
): Promise<ReadonlyMap<string, CredentialKey>> {
  const stored = [await secretOf(STORED_SECRET), await secretOf(PREVIOUS_SECRET)]
  const secrets = [key, ...previous, ...stored].filter(secret => secret !== undefined)
  return new Map(secrets.map(credentialKey).map(derived => [derived.id, derived]))
}

/** Encrypts an entry's secrets, bound to its kind and name. Returns undefined if the entry has no secrets. */
export const encryptedSecrets = (
  entry: Pick<StoredEntry, 'kind' | 'name'>,
  secrets: Secrets,
  { id, bytes }: CredentialKey,
): EncryptedSecrets | undefined =>
  secrets.size === 0
    ? undefined
    : { keyId: id, data: encryptText(bytes, JSON.stringify([...secrets]), authenticatedData(entry)).toString('base64') }

/** Decrypts an entry's secrets. Returns the fault if this is not possible. */
export function decryptedSecrets(
  entry: StoredEntry,
  keys: ReadonlyMap<string, CredentialKey>,
):
  | { readonly secrets: Secrets; readonly fault?: undefined }
  | { readonly secrets?: undefined; readonly fault: string } {
  if (entry.secrets === undefined) return { secrets: new Map() }
  const { keyId, data } = entry.secrets
  const key = keys.get(keyId)
  if (key === undefined) return { fault: `${WRONG_SECRET_FAULT} (key ${keyId}); ${WRONG_SECRET_REMEDY}` }
  const text = decryptText(key.bytes, Buffer.from(data, 'base64'), authenticatedData(entry))
  return text === undefined ? { fault: `${DAMAGED_FAULT}; enter them again` } : { secrets: new Map(JSON.parse(text)) }
}

const WRONG_SECRET_FAULT = 'its secrets were encrypted with another secret'
const WRONG_SECRET_REMEDY = 'enter them again, or add that secret to `encryption.previous` in the config file'
const DAMAGED_FAULT = 'its secrets are damaged'

const authenticatedData = ({ kind, name }: Pick<StoredEntry, 'kind' | 'name'>): Buffer => Buffer.from(`${kind} ${name}`)
