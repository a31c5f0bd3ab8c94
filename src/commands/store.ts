import { existsSync } from 'node:fs'
import type { StoreConfig } from '../config/index.ts'
import { storeAt } from '../config/store-address.ts'
import { copyStore } from '../store/copy.ts'
import { type Terminal, UsageError } from './outcome.ts'

/**
 * `interlingua store migrate`: copies the whole store to another, empty database.
 *
 * @throws CopyError, NewerStore, or the database's error.
 */
export async function migrateCommand(options: { from: string; to: string }, terminal: Terminal): Promise<void> {
  const [from, to] = [configOf(options.from), configOf(options.to)]
  if (from.engine === 'sqlite' && !existsSync(from.path)) throw new UsageError(`there is no file ${from.path}`)
  for (const { table, rows } of await copyStore(from, to)) terminal.out(`${table}: ${rows} rows`)
  terminal.out(
    'Everything is copied, and the row counts match. The source is unchanged; now set `store:` in the config to the target.',
  )
}

/** Parses a store address. Throws UsageError without quoting the address, which may contain a password. */
function checked(written: string): StoreConfig {
  if (written.startsWith('sqlite:') || URL.canParse(written)) return storeAt(written)
  throw new UsageError(
    'the store address is not valid; special characters of a password are percent-encoded (# is %23)',
  )
}

function configOf(written: string): StoreConfig {
  if (/^(sqlite:|postgres(ql)?:\/\/)/.test(written)) return checked(written)
  throw new UsageError('expected a store address: sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE')
}
