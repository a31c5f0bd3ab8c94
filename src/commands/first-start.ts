import type { Config } from '../config/index.ts'
import type { NewUser } from '../operators/sign-in/new-user.ts'
import type { StoredKey } from '../store/access-records.ts'
import type { Store } from '../store/store.ts'
import { freshUser } from './expected-user.ts'
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
  /** The console's page is not built: nobody can sign in. */
  readonly noPage?: true
}

/** Stored keys that a greeting may name. */
const NAMED = 100

/** Makes the first key and the first user of a gateway that has none, so that its operator, and nobody else, can use it. */
async function firstStart(config: Config, terminal: Terminal, expected?: Promise<NewUser>): Promise<FirstStart> {
  const hasKeys = config.keys.length > 0
  if (hasKeys && config.console === undefined)
    return { known: (await readRecords(config, records => records.keys({ limit: NAMED }))) ?? [] }
  return withStore(config, async ({ access, console: users }) => {
    const known = await access.keys({ limit: NAMED })
    const key = hasKeys || known.length > 0 ? { known } : await firstKey(config, access)
    if (config.console === undefined) return key
    const password = await firstUser(users, expected).catch(thrown =>
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
async function firstUser(users: Store['console'], expected?: Promise<NewUser>): Promise<string | undefined> {
  if ((await users.users()).length > 0) return undefined
  const { user, password } = await (expected ?? freshUser())
  return (await users.addUser(user, true)) ? password : undefined
}

/**
 * The same when a gateway starts, which a store that cannot be read does not keep it from.
 *
 * @param expected the first user, where one was begun already.
 * @param hasPage whether the console's page is built. Without it no first user is made: the start that has it shows the
 *   password.
 */
export async function starting(
  config: Config,
  terminal: Terminal,
  expected?: Promise<NewUser>,
  hasPage = true,
): Promise<FirstStart> {
  const { console: _, ...withoutConsole } = config
  if (config.console !== undefined && !hasPage) return { ...(await starting(withoutConsole, terminal)), noPage: true }
  try {
    return await firstStart(config, terminal, expected)
  } catch (thrown) {
    terminal.fault(`warning: stored keys cannot be read: ${(thrown as Error).message}`)
    return { known: [], unread: true }
  }
}
