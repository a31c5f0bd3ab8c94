import type { Config } from '../config/index.ts'
import type { StoredKey } from '../store/access-records.ts'
import type { Store } from '../store/store.ts'
import type { Terminal } from './outcome.ts'
import { readRecords, withStore } from './stored.ts'

export interface FirstStart {
  /** The key, when it was just created: it can be shown only now. */
  readonly created?: string
  /** Stored keys: some of them, where there are many. */
  readonly known: readonly StoredKey[]
  /** The store cannot be read: there may be keys. */
  readonly unread?: true
  /** The password of the console's first user, likewise. */
  readonly password?: string
}

/** The user that a gateway without users makes. */
export const FIRST_USER = 'admin'

/** Stored keys that a greeting may name. */
const NAMED = 100

/** Makes the first key and the first user of a gateway that has none, so that its operator, and nobody else, can use it. */
async function firstStart(config: Config, terminal: Terminal): Promise<FirstStart> {
  const hasKeys = config.keys.length > 0
  if (hasKeys && config.console === undefined)
    return { known: (await readRecords(config, records => records.keys({ limit: NAMED }))) ?? [] }
  return withStore(config, async ({ access, console: users }) => {
    const known = await access.keys({ limit: NAMED })
    const key = hasKeys || known.length > 0 ? { known } : await firstKey(config, access)
    if (config.console === undefined) return key
    const password = await firstUser(users).catch(thrown =>
      terminal.fault(`warning: the first user of the console cannot be made: ${(thrown as Error).message}`),
    )
    return password === undefined ? key : { ...key, password }
  })
}

async function firstKey(config: Config, access: Store['access']): Promise<FirstStart> {
  const group = config.groups.has('default') ? 'default' : [...config.groups.keys()][0]!
  const { newKey } = await import('./keys.ts')
  const { text, stored } = newKey('first', group, { limits: {}, enabled: true })
  // Another instance on the same store may have been first.
  return (await access.createKey(stored)) ? { created: text, known: [] } : { known: [stored] }
}

/** The password of the user; undefined where there are users already. */
async function firstUser(users: Store['console']): Promise<string | undefined> {
  if ((await users.users()).length > 0) return undefined
  const { freshPassword, newUser } = await import('../console/new-user.ts')
  const password = freshPassword()
  return (await users.addUser(await newUser(FIRST_USER, 'admin', password), true)) ? password : undefined
}

/** The same when a gateway starts, which a store that cannot be read does not keep it from. */
export async function starting(config: Config, terminal: Terminal): Promise<FirstStart> {
  try {
    return await firstStart(config, terminal)
  } catch (thrown) {
    terminal.fault(`warning: stored keys cannot be read: ${(thrown as Error).message}`)
    return { known: [], unread: true }
  }
}
