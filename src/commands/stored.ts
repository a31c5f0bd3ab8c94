import { existsSync } from 'node:fs'
import { importKeys } from '../access/import-keys.ts'
import { keyFile } from '../access/key-file.ts'
import { findConfig, loadConfig } from '../config/file.ts'
import type { Config } from '../config/index.ts'
import type { AccessRecords } from '../store/access-records.ts'
import { NewerStore, storeFault } from '../store/fault.ts'

type Place = Pick<Config, 'dataDir' | 'store'>

/** The config a command works with: the named file, else the usual one, else that of the environment. */
export const configAt = (file: string | undefined): Config => loadConfig(findConfig(file))

/** Does something with the stored keys and groups, also while a gateway runs on them. Rejects like `openStore`. */
export async function withRecords<T>({ dataDir, store }: Place, work: (records: AccessRecords) => Promise<T>) {
  const { openStore } = await import('../store/store.ts')
  const { access, close } = await openStore(store).catch(thrown => {
    throw unusable(thrown)
  })
  try {
    await importKeys(dataDir, access)
    return await work(access)
  } finally {
    await close()
  }
}

/** An error of a database driver, which by itself does not name the store. */
function unusable(thrown: unknown): unknown {
  if (thrown instanceof NewerStore || storeFault(thrown) === undefined) return thrown
  // A name with several addresses that all refuse has an error for each, and no message of its own.
  const { message } = thrown instanceof AggregateError ? (thrown.errors[0] as Error) : (thrown as Error)
  return new Error(`the store cannot be used: ${message}; the config's \`store\` names it`, { cause: thrown })
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
