import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suggestion } from '../config/faults.ts'
import { hashOf } from '../config/hash.ts'

/** A key created here; the key itself was shown once and is not stored. */
export interface StoredKey {
  readonly name: string
  /** SHA-256 of the key, in hex. */
  readonly hash: string
  readonly group: string
  /** The owner of what its requests store, where it replaced another key; else its own hash. */
  readonly owner?: string
  /** The beginning of the key, to identify it in lists. */
  readonly hint: string
  /** ISO 8601. */
  readonly createdAt: string
  readonly revokedAt?: string
}

/** The key file of a data directory. */
export const keyFile = (dataDir: string): string => join(dataDir, 'keys.json')

/** A fault of a key command or of the key file; the message is for the operator. */
export class KeyError extends Error {
  override readonly name = 'KeyError'
}

/**
 * All keys of the file, including revoked ones; none where there is no file.
 *
 * @throws KeyError where the file cannot be read or parsed.
 */
export function readKeys(path: string): readonly StoredKey[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new KeyError(`${path} cannot be read: ${(thrown as Error).message}`)
  }
  const keys = keysIn(text)
  if (keys === undefined) throw new KeyError(`${path} is damaged: it should hold {"keys": [{"name", "hash", "group"}]}`)
  return keys
}

function keysIn(text: string): readonly StoredKey[] | undefined {
  try {
    const { keys } = JSON.parse(text) as { keys: readonly StoredKey[] }
    const isValid = ({ name, hash, group, owner = '' }: StoredKey): boolean =>
      [name, group, owner].every(text => typeof text === 'string') && /^[0-9a-f]{64}$/.test(hash)
    return keys.every(isValid) ? keys : undefined
  } catch {
    return undefined
  }
}

/** The owner id of a key: half of a hash is unique, but too short to verify keys with. */
export const ownerOf = ({ owner, hash }: Pick<StoredKey, 'owner' | 'hash'>): string => owner ?? hash.slice(0, 32)

/** Creates a key and returns it; only its hash is stored. */
export function createKey(path: string, name: string, group: string, now = new Date()): string {
  const keys = readKeys(path)
  if (activeKey(keys, name) !== undefined)
    throw new KeyError(`there is a key named "${name}" already; rotate or revoke it`)
  const { key, ...stored } = newKey(name, group, now)
  writeKeys(path, [...keys, stored])
  return key
}

/** Revokes a key. */
export function revokeKey(path: string, name: string, now = new Date()): void {
  const keys = readKeys(path)
  writeKeys(path, withRevoked(keys, required(keys, name), now))
}

/** Replaces a key by a new one with the same name, group and owner; the old one is revoked at once. */
export function rotateKey(path: string, name: string, now = new Date()): string {
  const keys = readKeys(path)
  const old = required(keys, name)
  const { key, ...stored } = newKey(name, old.group, now)
  writeKeys(path, [...withRevoked(keys, old, now), { ...stored, owner: ownerOf(old) }])
  return key
}

const withRevoked = (keys: readonly StoredKey[], key: StoredKey, now: Date): readonly StoredKey[] =>
  keys.map(one => (one === key ? { ...one, revokedAt: now.toISOString() } : one))

/** The valid key of that name, if there is one. */
export const activeKey = (keys: readonly StoredKey[], name: string): StoredKey | undefined =>
  keys.find(key => key.name === name && key.revokedAt === undefined)

function required(keys: readonly StoredKey[], name: string): StoredKey {
  const key = activeKey(keys, name)
  if (key !== undefined) return key
  const good = keys.filter(one => one.revokedAt === undefined).map(one => one.name)
  throw new KeyError(`there is no key named "${name}"${suggestion(name, good)}`)
}

function newKey(name: string, group: string, now: Date): StoredKey & { readonly key: string } {
  const key = `il-${randomBytes(24).toString('base64url')}`
  return { key, name, hash: hashOf(key), group, hint: key.slice(0, 7), createdAt: now.toISOString() }
}

/** Replaces the file in one step, readable by its owner alone. */
function writeKeys(path: string, keys: readonly StoredKey[]): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const fresh = `${path}.${process.pid}.tmp`
  writeFileSync(fresh, `${JSON.stringify({ keys }, null, 2)}\n`, { mode: 0o600 })
  renameSync(fresh, path)
}
