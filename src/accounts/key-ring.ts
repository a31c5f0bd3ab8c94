import { timingSafeEqual } from 'node:crypto'
import { forbidden, GatewayError } from '../canonical/error.ts'
import { hashOf } from '../config/hash.ts'
import type { GroupConfig, KeySettings, RecordSettings } from '../config/types.ts'
import { type Permissions, permissionsOf } from './permissions.ts'

/** An authenticated caller. */
export interface Caller {
  /** Name of the key. It may appear in logs. */
  readonly key: string
  /** Id of the key, which survives renaming and rotation. Stored responses belong to this id. */
  readonly id: string
  /** Name of the key's group. */
  readonly group: string
  readonly permissions: Permissions
  /** Time until which the caller's requests are captured, in Unix milliseconds. */
  readonly captureUntil?: number | undefined
  /** Folder and rules of the caller's recordings. */
  readonly record?: RecordSettings | undefined
  /** Secret sent with the request, with its current validity. */
  readonly secret?: Validity
}

/** Current validity of a secret. Updated in place when the key changes, so that running requests notice. */
export interface Validity {
  /** Time until which the secret is valid, in Unix milliseconds. */
  readonly validUntil: number
  /** Error for requests after that time. */
  readonly refusal: GatewayError
}

/** A key that callers can authenticate with. */
export interface ActiveKey extends KeySettings {
  readonly id: string
  readonly name: string
  readonly group: string
  readonly record?: RecordSettings
  /** Secrets of the key, newest first. */
  readonly secrets: readonly { readonly hash: string; readonly expiresAt?: number }[]
}

/** One secret of a key, with its current validity. */
class ActiveSecret implements Validity {
  /** Hex digits of the hash. */
  readonly hash: Buffer
  validUntil = 0
  refusal = REVOKED
  /** Caller authenticated by the secret, or undefined if the key's group does not exist. */
  caller: Caller | undefined
  /** True if the secret belongs to a key of the config, which the store cannot change. */
  isFixed = false
  isActive = false
  /** Time of the last use in Unix milliseconds, or 0 for never. */
  usedAt = 0

  constructor(hash: string) {
    this.hash = Buffer.from(hash)
  }

  /** Applies the current settings of the key to the secret. */
  update(
    key: ActiveKey,
    expiresAt: number,
    group: GroupConfig | undefined,
    permissions: Permissions | undefined,
  ): void {
    const until = Math.min(expiresAt, key.expiresAt ?? NO_EXPIRY)
    this.validUntil = key.enabled && group !== undefined ? until : 0
    this.refusal = group === undefined ? NO_GROUP : key.enabled ? EXPIRED : DISABLED
    const { name, id, captureUntil, record } = key
    this.caller =
      permissions === undefined
        ? undefined
        : { key: name, id, group: key.group, permissions, captureUntil, record, secret: this }
    this.isActive = true
  }

  /** Invalidates the secret. */
  end(): void {
    this.validUntil = 0
    this.refusal = REVOKED
    this.isActive = false
  }
}

/** Expiry time of a secret that does not expire. */
const NO_EXPIRY = Number.POSITIVE_INFINITY

/** Length of the hash prefix that indexes secrets, in hex digits. The full hash is then compared in constant time. */
const PREFIX_LENGTH = 8
/** Maximum number of credentials in the cache, which saves hashing them again. */
const MAX_CREDENTIALS = 100_000

/** Finds keys by their secrets: by a prefix of the hash, then by the full hash in constant time. */
export class KeyRing {
  private readonly stored = new Map<string, ActiveKey>()
  private groups: ReadonlyMap<string, GroupConfig> = new Map()
  private readonly byCredential = new Map<string, ActiveSecret>()
  private readonly byPrefix = new Map<string, ActiveSecret[]>()
  private readonly byId = new Map<string, readonly ActiveSecret[]>()

  /** Replaces the keys of the config, and all groups. */
  configure(fixed: readonly ActiveKey[], groups: ReadonlyMap<string, GroupConfig>): void {
    this.groups = groups
    const previous = [...this.byId.values()].flat()
    for (const secret of previous) secret.isActive = false
    this.byId.clear()
    for (const key of fixed) this.putKey(key, true)
    for (const key of this.stored.values()) this.putKey(key, false)
    for (const secret of previous) if (!secret.isActive) this.drop(secret)
  }

  /** Adds or updates a stored key. */
  putStored(key: ActiveKey): void {
    this.stored.set(key.id, key)
    this.putKey(key, false)
  }

  /** Removes a stored key. */
  removeStored(id: string): void {
    if (!this.stored.delete(id)) return
    const secrets = this.byId.get(id) ?? []
    for (const secret of secrets) if (!secret.isFixed) this.drop(secret)
    const fixed = secrets.filter(({ isFixed }) => isFixed)
    if (fixed.length > 0) this.byId.set(id, fixed)
    else this.byId.delete(id)
  }

  /** Ids of all stored keys. */
  get storedIds(): string[] {
    return [...this.stored.keys()]
  }

  /**
   * Finds the secret of a credential, and records its use if it is valid. Returns undefined for an unknown credential,
   * after the same time for every one.
   *
   * @param now Unix time in milliseconds.
   */
  find(credential: string, now: number): (Validity & { readonly caller: Caller | undefined }) | undefined {
    const found = this.known(credential) ?? this.search(credential)
    if (found !== undefined && found.validUntil > now) found.usedAt = now
    return found
  }

  private known(credential: string): ActiveSecret | undefined {
    const cachedSecret = this.byCredential.get(credential)
    if (cachedSecret === undefined || cachedSecret.isActive) return cachedSecret
    this.byCredential.delete(credential)
    return undefined
  }

  private search(credential: string): ActiveSecret | undefined {
    const hash = hashOf(credential)
    const hashBytes = Buffer.from(hash)
    let found: ActiveSecret | undefined
    for (const one of this.byPrefix.get(hash.slice(0, PREFIX_LENGTH)) ?? DUMMY_SECRETS)
      if (timingSafeEqual(hashBytes, one.hash) && one.isActive) found = one
    if (found === undefined) return undefined
    if (this.byCredential.size >= MAX_CREDENTIALS) this.byCredential.clear()
    this.byCredential.set(credential, found)
    return found
  }

  /** Returns the key with an id, represented by the secret that stays valid longest. */
  findById(id: string): (Validity & { readonly caller: Caller | undefined }) | undefined {
    let best: ActiveSecret | undefined
    for (const one of this.byId.get(id) ?? []) if (best === undefined || one.validUntil > best.validUntil) best = one
    return best
  }

  /** Returns the Unix time in milliseconds at which the next valid secret expires, or Infinity if none does. */
  nextExpiry(now: number): number {
    let next = NO_EXPIRY
    for (const secrets of this.byId.values())
      for (const { validUntil } of secrets) if (validUntil > now && validUntil < next) next = validUntil
    return next
  }

  /**
   * Returns the times of last use, by key id, of the stored keys used since a time. All times are Unix milliseconds.
   */
  lastUsesSince(time: number): Map<string, number> {
    const lastUses = new Map<string, number>()
    for (const id of this.stored.keys()) {
      const at = Math.max(0, ...(this.byId.get(id) ?? []).map(({ usedAt }) => usedAt))
      if (at > 0 && at >= time) lastUses.set(id, at)
    }
    return lastUses
  }

  /** Updates the secrets of a key, and drops secrets that it no longer has. */
  private putKey(key: ActiveKey, isFixed: boolean): void {
    const previous = this.byId.get(key.id) ?? []
    const group = this.groups.get(key.group)
    const permissions = group === undefined ? undefined : permissionsOf(key, group)
    const current: ActiveSecret[] = []
    for (const { hash, expiresAt = NO_EXPIRY } of key.secrets) {
      const secret = this.secretOf(hash)
      if (secret.isActive && secret.isFixed && !isFixed) continue
      secret.isFixed = isFixed
      secret.update(key, expiresAt, group, permissions)
      current.push(secret)
    }
    const kept = new Set(current)
    for (const secret of previous) if (!kept.has(secret) && !secret.isFixed) this.drop(secret)
    this.byId.set(key.id, [...current, ...previous.filter(secret => secret.isFixed && !kept.has(secret))])
  }

  private secretOf(hash: string): ActiveSecret {
    const prefix = hash.slice(0, PREFIX_LENGTH)
    let others = this.byPrefix.get(prefix)
    if (others === undefined) this.byPrefix.set(prefix, (others = []))
    const hashBytes = Buffer.from(hash)
    const existing = others.find(one => one.hash.equals(hashBytes))
    if (existing !== undefined) return existing
    const secret = new ActiveSecret(hash)
    others.push(secret)
    return secret
  }

  private drop(secret: ActiveSecret): void {
    secret.end()
    const prefix = secret.hash.toString('latin1', 0, PREFIX_LENGTH)
    const others = (this.byPrefix.get(prefix) ?? []).filter(one => one !== secret)
    if (others.length === 0) this.byPrefix.delete(prefix)
    else this.byPrefix.set(prefix, others)
  }
}

/** Creates the error of a request without a valid key. */
export const unauthenticated = (message: string, code: string): GatewayError =>
  new GatewayError({ kind: 'unauthenticated', message, code })

const INVALID_KEY_CODE = 'invalid_api_key'
/** Length of a wrong key's mark: the first hex digits of its hash, which tell wrong keys apart. */
const MARK_LENGTH = 12

/** Refusal of an unknown key. Callers cannot tell whether the key never existed or was revoked. */
export class WrongKey extends GatewayError {
  /** First digits of the key's hash, which identify repeated attempts with the same key. */
  readonly mark: string

  constructor(credential: string) {
    super({ kind: 'unauthenticated', message: 'The API key is not valid.', code: INVALID_KEY_CODE })
    this.mark = hashOf(credential).slice(0, MARK_LENGTH)
  }
}

/** Refusal of a key that was revoked while in use. */
export const REVOKED = unauthenticated('The API key is no longer valid.', INVALID_KEY_CODE)
const EXPIRED = unauthenticated('The API key has expired.', INVALID_KEY_CODE)
const DISABLED = unauthenticated('The API key is disabled.', INVALID_KEY_CODE)
const NO_GROUP = forbidden('The group of this API key no longer exists.', undefined, 'group_not_found')

/** Secrets to compare with if no hash has the prefix, so that every search takes the same time. */
const DUMMY_SECRETS: readonly ActiveSecret[] = [new ActiveSecret('0'.repeat(64))]

/** Parts of a request that may carry a credential. Header names are lowercase, as in Node. */
export interface Credentials {
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  /** Value of `?key=`. */
  readonly queryKey?: string | undefined
}

/** Pattern of an `Authorization` header with a bearer token. */
export const BEARER = /^bearer\s+(\S+)\s*$/i

/** Pattern of the `Authorization` header of a request signed for AWS (docs/wire/converse.md#signed-requests). */
const AWS_AUTHORIZATION = /^AWS4-HMAC-SHA256\s[^\n]*?\bCredential=([^\s,]+)/

/** Number of credential parts after the access key id: date, region, service and `aws4_request`. */
const SCOPE_PARTS = 4

/**
 * Returns the access key id of a signed request, which is the gateway's key. The signature is not checked, because the
 * gateway stores only a hash of the key.
 */
function accessKeyId(authorization: string): string | undefined {
  const parts = AWS_AUTHORIZATION.exec(authorization)?.[1]?.split('/') ?? []
  return parts.length > SCOPE_PARTS && parts.at(-1) === 'aws4_request'
    ? parts.slice(0, -SCOPE_PARTS).join('/')
    : undefined
}

/**
 * WebSocket subprotocols in which browser clients of OpenAI and xAI send their key or client secret
 * (docs/wire/realtime.md#credentials). Browsers cannot set headers.
 */
export const SUBPROTOCOL = /(?:^|,)\s*(?:openai-insecure-api-key|xai-client-secret)\.([^,\s]+)/

/** Headers that contain nothing but a key. */
export const KEY_HEADERS = ['x-api-key', 'x-goog-api-key', 'api-key'] as const

/** Returns the key of a request from the first header or parameter that has one. */
export function credentialOf({ headers, queryKey }: Credentials): string | undefined {
  return (
    inAuthorization(text(headers['authorization'])) ||
    inKeyHeaders(headers) ||
    queryKey ||
    SUBPROTOCOL.exec(text(headers['sec-websocket-protocol']))?.[1] ||
    undefined
  )
}

function inKeyHeaders(headers: Credentials['headers']): string | undefined {
  for (const name of KEY_HEADERS) {
    const value = text(headers[name]).trim()
    if (value !== '') return value
  }
  return undefined
}

const inAuthorization = (value: string): string | undefined => BEARER.exec(value)?.[1] ?? accessKeyId(value)

const text = (value: string | readonly string[] | undefined): string =>
  typeof value === 'string' ? value : (value?.[0] ?? '')
