import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A key in the file format of earlier versions. */
export interface FileKey {
  readonly name: string
  /** SHA-256 of the key, in hex. */
  readonly hash: string
  readonly group: string
  /**
   * Owner of the data that the key's requests store. Present if the key replaced another one, otherwise derived from
   * the hash.
   */
  readonly owner?: string
  /** First characters of the key, shown in lists. */
  readonly hint?: string
  /** Time of creation, in ISO 8601. */
  readonly createdAt: string
  readonly revokedAt?: string
}

/** Path of the key file that an earlier version may have left in a data directory. */
export const keyFile = (dataDir: string): string => join(dataDir, 'keys.json')

/** Thrown for an error in a key command or in the key file. The message is for the operator. */
export class KeyError extends Error {
  override readonly name = 'KeyError'
}

/**
 * Reads all keys in the file, including revoked ones. Returns none if the file is missing.
 *
 * @throws KeyError if the file cannot be read or parsed.
 */
export function readKeys(path: string): readonly FileKey[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new KeyError(`${path} cannot be read: ${(thrown as Error).message}`)
  }
  const keys = keysIn(text)
  if (keys === undefined)
    throw new KeyError(`${path} is damaged: it should contain {"keys": [{"name", "hash", "group"}]}`)
  return keys
}

function keysIn(text: string): readonly FileKey[] | undefined {
  try {
    const { keys } = JSON.parse(text) as { keys: readonly FileKey[] }
    const isValid = ({ name, hash, group, owner = '' }: FileKey): boolean =>
      [name, group, owner].every(text => typeof text === 'string') && /^[0-9a-f]{64}$/.test(hash)
    return keys.every(isValid) ? keys : undefined
  } catch {
    return undefined
  }
}

/** Returns the owner id of a key. Half of the hash is unique, but not enough to authenticate. */
export const ownerOf = ({ owner, hash }: Pick<FileKey, 'owner' | 'hash'>): string => owner ?? hash.slice(0, 32)
