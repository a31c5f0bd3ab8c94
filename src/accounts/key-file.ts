import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A key as earlier versions stored it, in a file. */
export interface FileKey {
  readonly name: string
  /** SHA-256 of the key, in hex. */
  readonly hash: string
  readonly group: string
  /** The owner of what its requests store, where it replaced another key; else its own hash. */
  readonly owner?: string
  /** The beginning of the key, to identify it in lists. */
  readonly hint?: string
  /** ISO 8601. */
  readonly createdAt: string
  readonly revokedAt?: string
}

/** The key file of a data directory, where an earlier version left one. */
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
export function readKeys(path: string): readonly FileKey[] {
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

/** The owner id of a key: half of a hash is unique, but too short to verify keys with. */
export const ownerOf = ({ owner, hash }: Pick<FileKey, 'owner' | 'hash'>): string => owner ?? hash.slice(0, 32)
