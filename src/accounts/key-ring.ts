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
export interface HeldKey extends KeySettings {
  readonly id: string
  readonly name: string
  readonly group: string
  readonly record?: RecordSettings
  /** Secrets of the key, newest first. */
  readonly secrets: readonly { readonly hash: string; readonly expiresAt?: number }[]
}

/** One secret of a key, with its current validity. */
class HeldSecret implements Validity {
  /** Hex digits of the hash. */
  readonly hash: Buffer
  validUntil = 0
  refusal = ENDED
  /** Caller authenticated by the secret. Undefined if the key's group does not exist. */
  caller: Caller | undefined
  /** True if the secret belongs to a key of the config, which the store cannot change. */
  isFixed = false
  isHeld = false
  /** Time of the last use in Unix milliseconds, or 0 for never. */
  usedAt = 0

  constructor(hash: string) {
    this.hash = Buffer.from(hash)
  }

  /** Applies the current settings of the key to the secret. */
  update(key: HeldKey, expiresAt: number, group: GroupConfig | undefined, permissions: Permissions | undefined): void {
    const until = Math.min(expiresAt, key.expiresAt ?? FOREVER)
    this.validUntil = key.enabled && group !== undefined ? until : 0
    this.refusal = group === undefined ? NO_GROUP : key.enabled ? EXPIRED : DISABLED
    const { name, id, captureUntil, record } = key
    this.caller =
      permissions === undefined
        ? undefined
        : { key: name, id, group: key.group, permissions, captureUntil, record, secret: this }
    this.isHeld = true
  }

  /** Invalidates the secret. */
  end(): void {
    this.validUntil = 0
    this.refusal = ENDED
    this.isHeld = false
  }
}

/** Time of expiry of a secret that does not expire. */
const FOREVER = Number.POSITIVE_INFINITY

/** Number of hex digits of a hash that index the secrets. The full hash is then compared in constant time. */
const START = 8
/** Maximum number of credentials in the cache, which saves hashing them again. */
const MOST_CREDENTIALS = 100_000

/** Finds keys by their secrets: by a prefix of the hash, then by the full hash in constant time. */
export class KeyRing {
  private fixed: readonly HeldKey[] = []
  private readonly stored = new Map<string, HeldKey>()
  private groups: ReadonlyMap<string, GroupConfig> = new Map()
  private readonly byCredential = new Map<string, HeldSecret>()
  private readonly byStart = new Map<string, HeldSecret[]>()
  private readonly byId = new Map<string, readonly HeldSecret[]>()

  /** Replaces the keys of the config, and all groups. */
  configure(fixed: readonly HeldKey[], groups: ReadonlyMap<string, GroupConfig>): void {
    this.fixed = fixed
    this.groups = groups
    const before = [...this.byId.values()].flat()
    for (const secret of before) secret.isHeld = false
    this.byId.clear()
    for (const key of fixed) this.put(key, true)
    for (const key of this.stored.values()) this.put(key, false)
    for (const secret of before) if (!secret.isHeld) this.drop(secret)
  }

  /** Adds or updates a stored key. */
  putStored(key: HeldKey): void {
    this.stored.set(key.id, key)
    this.put(key, false)
  }

  /** Removes a stored key. */
  removeStored(id: string): void {
    if (!this.stored.delete(id) || this.fixed.some(key => key.id === id)) return
    for (const secret of this.byId.get(id) ?? []) if (!secret.isFixed) this.drop(secret)
    this.byId.delete(id)
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

  private known(credential: string): HeldSecret | undefined {
    const known = this.byCredential.get(credential)
    if (known === undefined || known.isHeld) return known
    this.byCredential.delete(credential)
    return undefined
  }

  private search(credential: string): HeldSecret | undefined {
    const hash = hashOf(credential)
    const given = Buffer.from(hash)
    let found: HeldSecret | undefined
    for (const one of this.byStart.get(hash.slice(0, START)) ?? NOBODY)
      if (timingSafeEqual(given, one.hash) && one.isHeld) found = one
    if (found === undefined) return undefined
    if (this.byCredential.size >= MOST_CREDENTIALS) this.byCredential.clear()
    this.byCredential.set(credential, found)
    return found
  }

  /** Returns the key with an id, represented by the secret that stays valid longest. */
  ownedBy(id: string): (Validity & { readonly caller: Caller | undefined }) | undefined {
    let best: HeldSecret | undefined
    for (const one of this.byId.get(id) ?? []) if (best === undefined || one.validUntil > best.validUntil) best = one
    return best
  }

  /** Returns the Unix time in milliseconds at which the next valid secret expires, or Infinity if none does. */
  nextEnd(now: number): number {
    let next = FOREVER
    for (const secrets of this.byId.values())
      for (const { validUntil } of secrets) if (validUntil > now && validUntil < next) next = validUntil
    return next
  }

  /**
   * Returns the times of last use, by key id, of the stored keys used since a time. All times are Unix milliseconds.
   */
  usedSince(time: number): Map<string, number> {
    const used = new Map<string, number>()
    for (const id of this.stored.keys()) {
      const at = Math.max(0, ...(this.byId.get(id) ?? []).map(({ usedAt }) => usedAt))
      if (at > 0 && at >= time) used.set(id, at)
    }
    return used
  }

  /** Updates the secrets of a key, and drops secrets that it no longer has. */
  private put(key: HeldKey, isFixed: boolean): void {
    const before = this.byId.get(key.id) ?? []
    const group = this.groups.get(key.group)
    const permissions = group === undefined ? undefined : permissionsOf(key, group)
    const after: HeldSecret[] = []
    for (const { hash, expiresAt = FOREVER } of key.secrets) {
      const secret = this.secretOf(hash)
      if (secret.isHeld && secret.isFixed && !isFixed) continue
      secret.isFixed = isFixed
      secret.update(key, expiresAt, group, permissions)
      after.push(secret)
    }
    for (const secret of before) if (!after.includes(secret) && !secret.isFixed) this.drop(secret)
    this.byId.set(key.id, after.length === 0 ? before.filter(({ isFixed }) => isFixed) : after)
  }

  private secretOf(hash: string): HeldSecret {
    const start = hash.slice(0, START)
    let others = this.byStart.get(start)
    if (others === undefined) this.byStart.set(start, (others = []))
    const wanted = Buffer.from(hash)
    const known = others.find(one => one.hash.equals(wanted))
    if (known !== undefined) return known
    const secret = new HeldSecret(hash)
    others.push(secret)
    return secret
  }

  private drop(secret: HeldSecret): void {
    secret.end()
    const start = secret.hash.toString('latin1', 0, START)
    const others = (this.byStart.get(start) ?? []).filter(one => one !== secret)
    if (others.length === 0) this.byStart.delete(start)
    else this.byStart.set(start, others)
  }
}

/** Creates the error of a request without a valid key. */
export const unauthenticated = (message: string, code: string): GatewayError =>
  new GatewayError({ kind: 'unauthenticated', message, code })

const INVALID = 'invalid_api_key'
/** Number of hex digits of a wrong key's hash that distinguish it from others. */
const MARK = 12

/** Refusal of an unknown key. Callers cannot tell whether the key never existed or was revoked. */
export class WrongKey extends GatewayError {
  /** Mark of the key, which is the same for every attempt with the key. */
  readonly mark: string

  constructor(credential: string) {
    super({ kind: 'unauthenticated', message: 'The API key is not valid.', code: INVALID })
    this.mark = hashOf(credential).slice(0, MARK)
  }
}

/** Refusal of a key that was revoked while in use. */
export const ENDED = unauthenticated('The API key is no longer valid.', INVALID)
const EXPIRED = unauthenticated('The API key has expired.', INVALID)
const DISABLED = unauthenticated('The API key is disabled.', INVALID)
const NO_GROUP = forbidden('The group of this API key no longer exists.', undefined, 'group_not_found')

/** Secrets to compare with if no hash has the prefix, so that every search takes the same time. */
const NOBODY: readonly HeldSecret[] = [new HeldSecret('0'.repeat(64))]

/** Parts of a request that may carry a credential. Header names are lowercase, as in Node. */
export interface Credentials {
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  /** Value of `?key=`. */
  readonly queryKey?: string | undefined
}

/** Pattern of an `Authorization` header with a bearer token. */
export const BEARER = /^bearer\s+(\S+)\s*$/i

/** Pattern of the `Authorization` header of a request signed for AWS (docs/wire/converse.md#signed-requests). */
const SIGNED = /^AWS4-HMAC-SHA256\s[^\n]*?\bCredential=([^\s,]+)/

/** Number of parts of a credential after the access key id: date, region, service and `aws4_request`. */
const SCOPE = 4

/**
 * Returns the access key id of a signed request, which is the gateway's key. The signature is not checked, because the
 * gateway stores only a hash of the key.
 */
function accessKeyId(authorization: string): string | undefined {
  const parts = SIGNED.exec(authorization)?.[1]?.split('/') ?? []
  return parts.length > SCOPE && parts.at(-1) === 'aws4_request' ? parts.slice(0, -SCOPE).join('/') : undefined
}

/** WebSocket subprotocol in which OpenAI's browser clients send their key. Browsers cannot set headers. */
export const SUBPROTOCOL = /(?:^|,)\s*openai-insecure-api-key\.([^,\s]+)/

/** Returns the key of a request from the first header or parameter that has one. */
export function credentialOf({ headers, queryKey }: Credentials): string | undefined {
  return (
    inAuthorization(text(headers['authorization'])) ||
    text(headers['x-api-key']).trim() ||
    text(headers['x-goog-api-key']).trim() ||
    queryKey ||
    SUBPROTOCOL.exec(text(headers['sec-websocket-protocol']))?.[1] ||
    undefined
  )
}

const inAuthorization = (value: string): string | undefined => BEARER.exec(value)?.[1] ?? accessKeyId(value)

const text = (value: string | readonly string[] | undefined): string =>
  typeof value === 'string' ? value : (value?.[0] ?? '')
