import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suggestion } from '../config/faults.ts'
import { hashOf } from '../config/hash.ts'

/** A key that was made here; the key itself was shown once and is not kept. */
export interface StoredKey {
  readonly name: string
  /** SHA-256 of the key, in hex. */
  readonly hash: string
  readonly group: string
  /** Under whom what it leaves behind is kept, where another secret of the key came before; else its own hash says. */
  readonly owner?: string
  /** How the key begins, to tell it from others. */
  readonly hint: string
  /** ISO 8601. */
  readonly createdAt: string
  readonly revokedAt?: string
}

/** Where the keys of a data directory are kept. */
export const keyFile = (dataDir: string): string => join(dataDir, 'keys.json')

/** Something is wrong with a key command or with the key file; the message is for the operator. */
export class KeyError extends Error {
  override readonly name = 'KeyError'
}

/**
 * All keys of the file, revoked ones too; none where there is no file.
 *
 * @throws KeyError where the file is not one of ours.
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
    const sound = ({ name, hash, group, owner = '' }: StoredKey): boolean =>
      [name, group, owner].every(text => typeof text === 'string') && /^[0-9a-f]{64}$/.test(hash)
    return keys.every(sound) ? keys : undefined
  } catch {
    return undefined
  }
}

/** Who owns what a key leaves behind: half of a hash is enough to be nobody else's, too little to compare keys with. */
export const ownerOf = ({ owner, hash }: Pick<StoredKey, 'owner' | 'hash'>): string => owner ?? hash.slice(0, 32)

/** Makes a key and returns it; afterwards only its hash is known. */
export function createKey(path: string, name: string, group: string, now = new Date()): string {
  const keys = readKeys(path)
  if (activeKey(keys, name) !== undefined)
    throw new KeyError(`there is a key named "${name}" already; rotate or revoke it`)
  const { key, ...stored } = newKey(name, group, now)
  writeKeys(path, [...keys, stored])
  return key
}

/** Ends a key. */
export function revokeKey(path: string, name: string, now = new Date()): void {
  const keys = readKeys(path)
  writeKeys(path, without(keys, required(keys, name), now))
}

/** Replaces a key by a new one of the same name, group and belongings; the old one ends at once. */
export function rotateKey(path: string, name: string, now = new Date()): string {
  const keys = readKeys(path)
  const old = required(keys, name)
  const { key, ...stored } = newKey(name, old.group, now)
  writeKeys(path, [...without(keys, old, now), { ...stored, owner: ownerOf(old) }])
  return key
}

const without = (keys: readonly StoredKey[], key: StoredKey, now: Date): readonly StoredKey[] =>
  keys.map(one => (one === key ? { ...one, revokedAt: now.toISOString() } : one))

/** The key of that name that is good, if there is one. */
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
