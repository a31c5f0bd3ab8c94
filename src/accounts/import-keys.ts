import { existsSync, renameSync } from 'node:fs'
import type { AccessRecords, StoredKey } from '../store/access-records.ts'
import { type FileKey, keyFile, ownerOf, readKeys } from './key-file.ts'

/**
 * Imports the key file of an earlier version into the store and renames the file. Safe to run in several processes at
 * once, because each key is stored only once, under its id.
 *
 * @throws KeyError if the file cannot be read, and errors of the store.
 */
export async function importKeys(dataDir: string, records: AccessRecords): Promise<void> {
  const path = keyFile(dataDir)
  if (!existsSync(path)) return
  for (const key of readKeys(path)) if (key.revokedAt === undefined) await importKey(storedOf(key), records)
  try {
    renameSync(path, `${path}.imported`)
  } catch (thrown) {
    // Another process renamed the file first.
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
  }
}

/** Stores one key. Adds a number to its name if the name is taken. */
async function importKey(key: StoredKey, records: AccessRecords): Promise<void> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? key.name : `${key.name}-${number}`
    if (await records.createKey({ ...key, name })) return
    if ((await records.keyNamed(name)) === undefined || (await records.key(key.id)) !== undefined) return
  }
}

/** Converts a key of the file into a stored key. */
function storedOf(key: FileKey): StoredKey {
  const { name, group, hash, hint } = key
  const createdAt = Date.parse(key.createdAt) || 0
  return {
    ...{ id: ownerOf(key), name, group, createdAt, limits: {}, enabled: true },
    secrets: [{ hash, prefix: hint ?? '', lastFour: '', createdAt }],
  }
}
