import type { Config } from '../config/index.ts'
import type { StoredKey } from '../store/access-records.ts'
import type { Terminal } from './outcome.ts'
import { readRecords, withRecords } from './stored.ts'

export interface FirstKey {
  /** The key, when it was just created: it can be shown only now. */
  readonly created?: string
  /** Stored keys: some of them, where there are many. */
  readonly known: readonly StoredKey[]
  /** The store cannot be read: there may be keys. */
  readonly unread?: true
}

/** Stored keys that a greeting may name. */
const NAMED = 100

/** Creates the first key of a gateway that has none, so that it can be used at once, but only by its operator. */
async function firstKey(config: Config): Promise<FirstKey> {
  const known = (await readRecords(config, records => records.keys({ limit: NAMED }))) ?? []
  if (config.keys.length > 0 || known.length > 0) return { known }
  const group = config.groups.has('default') ? 'default' : [...config.groups.keys()][0]!
  const { newKey } = await import('./keys.ts')
  const { text, stored } = newKey('first', group, { limits: {}, enabled: true })
  // Another instance on the same store may have been first.
  const isCreated = await withRecords(config, records => records.createKey(stored))
  return isCreated ? { created: text, known: [] } : { known: [stored] }
}

/** The same when a gateway starts, which a store that cannot be read does not keep it from. */
export async function startingKey(config: Config, terminal: Terminal): Promise<FirstKey> {
  try {
    return await firstKey(config)
  } catch (thrown) {
    terminal.fault(`warning: stored keys cannot be read: ${(thrown as Error).message}`)
    return { known: [], unread: true }
  }
}
