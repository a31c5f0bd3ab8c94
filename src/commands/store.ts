import { existsSync } from 'node:fs'
import type { StoreConfig } from '../config/index.ts'
import { storeAt } from '../config/store-address.ts'
import { copyStore } from '../store/copy.ts'
import { type Terminal, UsageError } from './outcome.ts'

/**
 * `interlingua store migrate`: copies everything that is stored to another database, which must be empty.
 *
 * @throws CopyError, NewerStore, or the error of a database.
 */
export async function migrateCommand(options: { from: string; to: string }, terminal: Terminal): Promise<void> {
  const [from, to] = [configOf(options.from), configOf(options.to)]
  if (from.engine === 'sqlite' && !existsSync(from.path)) throw new UsageError(`there is no file ${from.path}`)
  for (const { table, rows } of await copyStore(from, to)) terminal.out(`${table}: ${rows} rows`)
  terminal.out('All is copied, and the numbers agree. The source is as it was; now set `store:` to the target.')
}

/** The store of an address. Throws UsageError, which does not repeat what may hold a password. */
function checked(written: string): StoreConfig {
  if (written.startsWith('sqlite:') || URL.canParse(written)) return storeAt(written)
  throw new UsageError('an address is not valid; special characters of a password are percent-encoded (# is %23)')
}

function configOf(written: string): StoreConfig {
  if (/^(sqlite:|postgres(ql)?:\/\/)/.test(written)) return checked(written)
  throw new UsageError('a store is written as sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE')
}
