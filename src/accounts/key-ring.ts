import { timingSafeEqual } from 'node:crypto'
import { forbidden, GatewayError } from '../canonical/error.ts'
import { hashOf } from '../config/hash.ts'
import type { GroupConfig, KeySettings } from '../config/types.ts'
import { type Permissions, permissionsOf } from './permissions.ts'

/** The owner of a request's key. */
export interface Caller {
  /** The name of the key, which may appear in logs. */
  readonly key: string
  /** Stable and unique for the key, also when it is renamed or rotated: stored responses belong to it. */
  readonly id: string
  /** The name of its group. */
  readonly group: string
  readonly permissions: Permissions
  /** Until when its requests are captured; Unix time in milliseconds. */
  readonly captureUntil?: number | undefined
  /** The secret that it came with, as long as it is valid. */
  readonly secret?: Validity
}

/** How long a secret is good. It changes with its key, so that running requests see it. */
export interface Validity {
  /** Unix time in milliseconds. */
  readonly validUntil: number
  /** Why it is not good after that. */
  readonly refusal: GatewayError
}

/** A key that callers may come with. */
export interface HeldKey extends KeySettings {
  readonly id: string
  readonly name: string
  readonly group: string
  /** The latest first. */
  readonly secrets: readonly { readonly hash: string; readonly expiresAt?: number }[]
}

/** One secret of a key, as it is now. */
class HeldSecret implements Validity {
  /** The characters of its hash. */
  readonly hash: Buffer
  validUntil = 0
  refusal = ENDED
  /** Absent where its key has no group. */
  caller: Caller | undefined
  /** Of the config: what is stored does not change it. */
  isFixed = false
  isHeld = false
  /** Unix time in milliseconds; 0 for never. */
  usedAt = 0

  constructor(hash: string) {
    this.hash = Buffer.from(hash)
  }

  become(key: HeldKey, expiresAt: number, group: GroupConfig | undefined, permissions: Permissions | undefined): void {
    const until = Math.min(expiresAt, key.expiresAt ?? FOREVER)
    this.validUntil = key.enabled && group !== undefined ? until : 0
    this.refusal = group === undefined ? NO_GROUP : key.enabled ? EXPIRED : DISABLED
    const { name, id, captureUntil } = key
    this.caller =
      permissions === undefined
        ? undefined
        : { key: name, id, group: key.group, permissions, captureUntil, secret: this }
    this.isHeld = true
  }

  end(): void {
    this.validUntil = 0
    this.refusal = ENDED
    this.isHeld = false
  }
}

const FOREVER = Number.POSITIVE_INFINITY

/** Characters of a hash by which secrets are found; the others are compared in constant time. */
const START = 8
/** Credentials whose secrets are known without hashing them again. */
const MOST_CREDENTIALS = 100_000

/** Finds keys by their secrets: by the first characters of a hash quickly, then by all of it in constant time. */
export class KeyRing {
  private fixed: readonly HeldKey[] = []
  private readonly stored = new Map<string, HeldKey>()
  private groups: ReadonlyMap<string, GroupConfig> = new Map()
  private readonly byCredential = new Map<string, HeldSecret>()
  private readonly byStart = new Map<string, HeldSecret[]>()
  private readonly byId = new Map<string, readonly HeldSecret[]>()

  /** The keys of the config, and all groups. */
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

  /** Takes a stored key as it is now. */
  keep(key: HeldKey): void {
    this.stored.set(key.id, key)
    this.put(key, false)
  }

  /** Forgets a stored key. */
  forget(id: string): void {
    if (!this.stored.delete(id) || this.fixed.some(key => key.id === id)) return
    for (const secret of this.byId.get(id) ?? []) if (!secret.isFixed) this.drop(secret)
    this.byId.delete(id)
  }

  /** The ids of all stored keys. */
  get storedIds(): string[] {
    return [...this.stored.keys()]
  }

  /**
   * The secret that a credential is; undefined for an unknown one, whose cost is the same whatever it looks like. To
   * find a valid one counts as its last use; one that is refused is not used.
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

  /** The key of that id, by the secret of it that is good for longest. */
  ownedBy(id: string): (Validity & { readonly caller: Caller | undefined }) | undefined {
    let best: HeldSecret | undefined
    for (const one of this.byId.get(id) ?? []) if (best === undefined || one.validUntil > best.validUntil) best = one
    return best
  }

  /** When the next secret ends that is good now (Unix milliseconds); Infinity for never. */
  nextEnd(now: number): number {
    let next = FOREVER
    for (const secrets of this.byId.values())
      for (const { validUntil } of secrets) if (validUntil > now && validUntil < next) next = validUntil
    return next
  }

  /** When stored keys were used from a time on, by id (Unix milliseconds). */
  usedSince(time: number): Map<string, number> {
    const used = new Map<string, number>()
    for (const id of this.stored.keys()) {
      const at = Math.max(0, ...(this.byId.get(id) ?? []).map(({ usedAt }) => usedAt))
      if (at > 0 && at >= time) used.set(id, at)
    }
    return used
  }

  private put(key: HeldKey, isFixed: boolean): void {
    const before = this.byId.get(key.id) ?? []
    const group = this.groups.get(key.group)
    const permissions = group === undefined ? undefined : permissionsOf(key, group)
    const after: HeldSecret[] = []
    for (const { hash, expiresAt = FOREVER } of key.secrets) {
      const secret = this.secretOf(hash)
      if (secret.isHeld && secret.isFixed && !isFixed) continue
      secret.isFixed = isFixed
      secret.become(key, expiresAt, group, permissions)
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

export const unauthenticated = (message: string, code: string): GatewayError =>
  new GatewayError({ kind: 'unauthenticated', message, code })

const INVALID = 'invalid_api_key'
/** Characters of a wrong key's hash that distinguish it from others. */
const MARK = 12

/** The refusal of a key that nobody has: one that never was, or was revoked, which cannot be distinguished. */
export class WrongKey extends GatewayError {
  /** The same for the same key. */
  readonly mark: string

  constructor(credential: string) {
    super({ kind: 'unauthenticated', message: 'The API key is not valid.', code: INVALID })
    this.mark = hashOf(credential).slice(0, MARK)
  }
}

export const ENDED = unauthenticated('The API key is not valid any more.', INVALID)
const EXPIRED = unauthenticated('The API key has expired.', INVALID)
const DISABLED = unauthenticated('The API key is disabled.', INVALID)
const NO_GROUP = forbidden('The group of this API key does not exist any more.', undefined, 'group_not_found')

/** Compared with where no hash begins as the given one. */
const NOBODY: readonly HeldSecret[] = [new HeldSecret('0'.repeat(64))]

/** The parts of a request that may carry a credential; names of headers in lower case, as in Node. */
export interface Credentials {
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  /** The value of `?key=`, where there is one. */
  readonly queryKey?: string | undefined
}

export const BEARER = /^bearer\s+(\S+)\s*$/i

/** The subprotocol in which OpenAI's realtime clients in browsers send their key, as they cannot set headers. */
export const SUBPROTOCOL = /(?:^|,)\s*openai-insecure-api-key\.([^,\s]+)/

/** A request's key: the first of the places where real clients put it. */
export function credentialOf({ headers, queryKey }: Credentials): string | undefined {
  return (
    BEARER.exec(text(headers['authorization']))?.[1] ||
    text(headers['x-api-key']).trim() ||
    text(headers['x-goog-api-key']).trim() ||
    queryKey ||
    SUBPROTOCOL.exec(text(headers['sec-websocket-protocol']))?.[1] ||
    undefined
  )
}

const text = (value: string | readonly string[] | undefined): string =>
  typeof value === 'string' ? value : (value?.[0] ?? '')
