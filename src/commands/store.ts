import { existsSync } from 'node:fs'
import type { StoreConfig } from '../config/index.ts'
import { storeAt } from '../config/store-address.ts'
import {
  allKeys,
  credentialKey,
  decryptedSecrets,
  encryptedSecrets,
  freshSecret,
  replacedSecrets,
  STORED_SECRET,
} from '../gateway/stored-config/credential-keys.ts'
import type { EncryptedSecrets, StoredEntry } from '../store/config-records.ts'
import { copyStore } from '../store/copy.ts'
import { counted } from './counted.ts'
import { type Terminal, UsageError } from './outcome.ts'
import { configAt, readStore } from './with-store.ts'

/**
 * `interlingua store migrate`: copies the entire store to another, empty database.
 *
 * @throws CopyError, NewerStore, or the database's error.
 */
export async function migrateCommand(options: { from: string; to: string }, terminal: Terminal): Promise<void> {
  const [from, to] = [configOf(options.from), configOf(options.to)]
  if (from.engine === 'sqlite' && !existsSync(from.path)) throw new UsageError(`there is no file ${from.path}`)
  for (const { table, rows } of await copyStore(from, to)) terminal.out(`${table}: ${rows} rows`)
  terminal.out(
    'Everything was copied, and the row counts match. The source is unchanged. Now set `store:` in the config to the target.',
  )
}

/** `interlingua store encrypt-again`: encrypts the credentials of stored channels with the newest secret. */
export async function encryptAgainCommand(file: string | undefined, terminal: Terminal): Promise<void> {
  const { secrets: configured, ...config } = configAt(file)
  const unread = new Set<string>()
  const count = await readStore(config, ({ config: records }) =>
    records.encryptAgain(async secretOf => {
      unread.clear()
      const keys = await allKeys(secretOf, configured)
      const fresh = configured === undefined ? freshSecret() : undefined
      const next = credentialKey(fresh ?? configured!.key)
      const change = (entry: StoredEntry, secrets: EncryptedSecrets): EncryptedSecrets => {
        const opened = decryptedSecrets(entry, keys)
        if (opened.secrets !== undefined) return encryptedSecrets(entry, opened.secrets, next)!
        unread.add(entry.name)
        return secrets
      }
      return { change, secrets: fresh === undefined ? [] : replacedSecrets(fresh, await secretOf(STORED_SECRET)) }
    }),
  )
  for (const name of unread)
    terminal.fault(`No secret decrypts the credentials of channel ${name}; they are left unchanged.`)
  const secret = configured === undefined ? 'a new secret of the store' : '`encryption.key`'
  terminal.out(`Encrypted the credentials of ${counted((count ?? 0) - unread.size, 'channel')} with ${secret}.`)
}

/** Parses a store address. Throws UsageError without quoting the address, which may contain a password. */
function parseStore(address: string): StoreConfig {
  if (address.startsWith('sqlite:') || URL.canParse(address)) return storeAt(address)
  throw new UsageError('the store address is not valid; percent-encode special characters in the password (# is %23)')
}

function configOf(address: string): StoreConfig {
  if (/^(sqlite:|postgres(ql)?:\/\/)/.test(address)) return parseStore(address)
  throw new UsageError('expected a store address: sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE')
}
