import { existsSync } from 'node:fs'
import { importKeys } from '../accounts/import-keys.ts'
import { keyFile } from '../accounts/key-file.ts'
import { findConfig, loadConfig } from '../config/file.ts'
import type { Config } from '../config/index.ts'
import type { AccessRecords } from '../store/access-records.ts'
import type { Store } from '../store/store.ts'

type StoreLocation = Pick<Config, 'dataDir' | 'store'>

/** Loads the config for a command from the named file, the default file or environment variables, in this order. */
export const configAt = (file: string | undefined): Config => loadConfig(findConfig(file))

/** The repositories that commands use. */
export type Repositories = Pick<Store, 'access' | 'audit' | 'config' | 'console' | 'shared'>

/**
 * Opens the store for the duration of `work`, after importing an old key file. Safe while a gateway uses the store.
 * Rejects like `openStore`.
 */
export async function withStore<T>(
  { dataDir, store }: StoreLocation,
  work: (repositories: Repositories) => Promise<T>,
): Promise<T> {
  const { openStore } = await import('../store/store.ts')
  const { namingStore } = await import('../store/fault.ts')
  const unusable = (thrown: unknown) => Promise.reject(namingStore(store, thrown))
  const opened = await openStore(store).catch(unusable)
  try {
    await importKeys(dataDir, opened.access)
    return await work(opened).catch(unusable)
  } finally {
    await opened.close()
  }
}

/**
 * Like `withStore`, but for reading. Returns undefined for a missing SQLite store instead of creating it, unless there
 * is a key file to import.
 */
export async function readStore<T>(
  location: StoreLocation,
  work: (repositories: Repositories) => Promise<T>,
): Promise<T | undefined> {
  const { store, dataDir } = location
  const isNew = store.engine === 'sqlite' && !existsSync(store.path) && !existsSync(keyFile(dataDir))
  return isNew ? undefined : withStore(location, work)
}

export const readRecords = <T>(
  location: StoreLocation,
  work: (records: AccessRecords) => Promise<T>,
): Promise<T | undefined> => readStore(location, ({ access }) => work(access))
