import { timingSafeEqual } from 'node:crypto'
import { defined } from '../canonical/defined.ts'
import { GatewayError } from '../canonical/error.ts'
import { hashOf } from '../config/hash.ts'
import type { Config, GroupConfig, KeyConfig } from '../config/index.ts'
import { watchPath } from '../config/watch.ts'
import { type Credentials, credentialOf } from './credential.ts'
import { keyFile, ownerOf, readKeys } from './key-file.ts'
import type { Allowance } from './limits/allowance.ts'
import { Limits } from './limits/index.ts'
import { type Permissions, permissionsOf } from './permissions.ts'

export type { Credentials } from './credential.ts'
export type { Allowance, ExpectedTokens, SpentTokens, Taking } from './limits/allowance.ts'
export type { Permissions } from './permissions.ts'

/** The owner of a request's key. */
export interface Caller {
  /** The name of the key, which may appear in logs. */
  readonly key: string
  /** Stable and unique for the key, also when it is renamed or rotated: stored responses belong to it. */
  readonly id: string
  /** The name of its group. */
  readonly group: string
  readonly permissions: Permissions
}

export interface Access {
  /**
   * Finds the owner of a key.
   *
   * @throws GatewayError `unauthenticated` without a key or with one that is unknown or revoked, `forbidden` where the
   * key's group does not exist any more.
   */
  identify(credentials: Credentials): Caller
  /**
   * The same caller as its key is now.
   *
   * @throws GatewayError as `identify` does, where the key was revoked meanwhile.
   */
  renewed(caller: Caller): Caller
  /** The share of one request in its key's limits; nothing is counted yet. */
  allowance(caller: Caller): Allowance
  /** Takes the groups and fixed keys of another config; counts stay. */
  reload(config: Config): void
  /** Stops watching the key file. */
  close(): void
}

export interface AccessOptions {
  /** Unix time in milliseconds. */
  readonly now?: () => number
  /** Called when the key file cannot be read any more; the keys read before stay valid. */
  readonly onFault?: (message: string) => void
  /** What keys use of their limits; by default counted in this process alone. */
  readonly limits?: Limits
}

/**
 * Opens the keys of the config and those of the key file in its data directory, and watches the file for changes.
 *
 * @throws KeyError where there is a key file that cannot be read.
 */
export function openAccess(config: Config, { now, onFault = () => {}, ...options }: AccessOptions = {}): Access {
  const limits = options.limits ?? new Limits(defined({ now }))
  let { groups, dataDir } = config
  let fixed = config.keys
  let stored: readonly RingKey[] = []
  let ring = new KeyRing(fixed)

  const load = (): void => {
    stored = storedKeys(dataDir)
    ring = new KeyRing([...fixed, ...stored])
  }
  const refresh = (): void => {
    try {
      load()
    } catch (thrown) {
      onFault((thrown as Error).message)
    }
  }
  let unwatch = watchPath(keyFile(dataDir), refresh)
  try {
    load()
  } catch (thrown) {
    unwatch()
    throw thrown
  }

  return {
    identify(credentials) {
      const key = ring.find(credentialOf(credentials))
      const group = groups.get(key.group)
      if (group !== undefined) return callerOf(key, group)
      throw new GatewayError({ kind: 'forbidden', message: 'The group of this API key does not exist any more.' })
    },
    renewed({ id }) {
      const key = ring.ownedBy(id)
      const group = groups.get(key.group)
      if (group !== undefined) return callerOf(key, group)
      throw new GatewayError({ kind: 'forbidden', message: 'The group of this API key does not exist any more.' })
    },
    allowance: ({ id, permissions }) => limits.of(id, permissions.limits),
    reload(next) {
      groups = next.groups
      fixed = next.keys
      if (next.dataDir !== dataDir) {
        unwatch()
        dataDir = next.dataDir
        unwatch = watchPath(keyFile(dataDir), refresh)
      }
      ring = new KeyRing([...fixed, ...stored])
      refresh()
    },
    close() {
      unwatch()
      limits.close()
    },
  }
}

const callerOf = (key: RingKey, group: GroupConfig): Caller => ({
  ...{ key: key.name, id: ownerOf(key), group: group.name },
  permissions: permissionsOf(key, group),
})

/** The valid keys of the key file. Throws KeyError as `readKeys`. */
export const storedKeys = (dataDir: string): RingKey[] =>
  readKeys(keyFile(dataDir))
    .filter(key => key.revokedAt === undefined)
    .map(key => ({
      ...{ name: key.name, hash: key.hash, group: key.group, owner: ownerOf(key) },
      ...{ limits: {}, enabled: true },
    }))

type RingKey = KeyConfig & { readonly owner?: string }

/** Finds keys by hash: by its first characters quickly, then by all of it in constant time. Each key is hashed once. */
class KeyRing {
  private readonly byCredential = new Map<string, RingKey>()
  private readonly byStart = new Map<string, HashedKey[]>()

  constructor(keys: readonly RingKey[]) {
    for (const key of keys) {
      const start = key.hash.slice(0, 8)
      const hashed = { key, hash: Buffer.from(key.hash) }
      const others = this.byStart.get(start)
      if (others === undefined) this.byStart.set(start, [hashed])
      else others.push(hashed)
    }
  }

  ownedBy(id: string): RingKey {
    for (const others of this.byStart.values()) for (const { key } of others) if (ownerOf(key) === id) return key
    throw unauthenticated('The API key is not valid any more.', 'invalid_api_key')
  }

  find(credential: string | undefined): RingKey {
    if (credential === undefined) throw unauthenticated('No API key was given.', 'missing_api_key')
    const known = this.byCredential.get(credential)
    if (known !== undefined) return known
    const hash = hashOf(credential)
    const byCredential = Buffer.from(hash)
    const found = this.byStart.get(hash.slice(0, 8))?.find(one => timingSafeEqual(byCredential, one.hash))
    if (found === undefined) throw unauthenticated('The API key is not valid.', 'invalid_api_key')
    this.byCredential.set(credential, found.key)
    return found.key
  }
}

interface HashedKey {
  readonly key: RingKey
  /** The characters of its hash. */
  readonly hash: Buffer
}

const unauthenticated = (message: string, code: string): GatewayError =>
  new GatewayError({ kind: 'unauthenticated', message, code })
