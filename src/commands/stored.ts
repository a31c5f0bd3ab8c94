import { existsSync } from 'node:fs'
import { importKeys } from '../access/import-keys.ts'
import { keyFile } from '../access/key-file.ts'
import { findConfig, loadConfig } from '../config/file.ts'
import type { Config } from '../config/index.ts'
import type { AccessRecords } from '../store/access-records.ts'

type Place = Pick<Config, 'dataDir' | 'store'>

/** The config a command works with: the named file, else the usual one, else that of the environment. */
export const configAt = (file: string | undefined): Config => loadConfig(findConfig(file))

/** Does something with the stored keys and groups, also while a gateway runs on them. Rejects like `openStore`. */
export async function withRecords<T>({ dataDir, store }: Place, work: (records: AccessRecords) => Promise<T>) {
  const { openStore } = await import('../store/store.ts')
  const { namingStore } = await import('../store/unusable.ts')
  const unusable = (thrown: unknown) => Promise.reject(namingStore(store, thrown))
  const { access, close } = await openStore(store).catch(unusable)
  try {
    await importKeys(dataDir, access)
    return await work(access).catch(unusable)
  } finally {
    await close()
  }
}

/** The same where nothing is written: a store that was never written to is not begun, but has nothing. */
export async function readRecords<T>(
  place: Place,
  work: (records: AccessRecords) => Promise<T>,
): Promise<T | undefined> {
  const { store, dataDir } = place
  const isNew = store.engine === 'sqlite' && !existsSync(store.path) && !existsSync(keyFile(dataDir))
  return isNew ? undefined : withRecords(place, work)
}
