import type { Config } from '../config/index.ts'
import type { NewUser } from '../operators/sign-in/new-user.ts'
import type { StoredKey } from '../store/access-records.ts'
import type { Store } from '../store/store.ts'
import { newFirstUser } from './expected-user.ts'
import type { Terminal } from './outcome.ts'
import { readRecords, withStore } from './with-store.ts'

export interface FirstStart {
  /** The key, if it was just created. It cannot be shown later. */
  readonly created?: string
  /** Stored keys, or only the first of them if there are many. */
  readonly storedKeys: readonly StoredKey[]
  /** True if the store could not be read, so that keys may exist. */
  readonly storeUnreadable?: true
  /** The password of the first console user, if the user was just created. */
  readonly password?: string
  /** True if the web console is missing, so that nobody can sign in. */
  readonly consoleNotBuilt?: true
}

/** Maximum number of stored keys that the greeting may name. */
const MAX_NAMED = 100

/**
 * Creates the first key and the first console user if there are none, so that only the operator can use a new gateway.
 */
async function firstStart(config: Config, terminal: Terminal, expected?: Promise<NewUser>): Promise<FirstStart> {
  const hasKeys = config.keys.length > 0
  if (hasKeys && config.console === undefined)
    return { storedKeys: (await readRecords(config, records => records.keys({ limit: MAX_NAMED }))) ?? [] }
  return withStore(config, async ({ access, console: users }) => {
    const storedKeys = await access.keys({ limit: MAX_NAMED })
    const key = hasKeys || storedKeys.length > 0 ? { storedKeys } : await firstKey(config, access)
    if (config.console === undefined) return key
    const password = await firstUser(users, expected).catch(thrown =>
      terminal.fault(`warning: the first console user cannot be created: ${(thrown as Error).message}`),
    )
    return password === undefined ? key : { ...key, password }
  })
}

async function firstKey(config: Config, access: Store['access']): Promise<FirstStart> {
  const group = config.groups.has('default') ? 'default' : [...config.groups.keys()][0]!
  const { newKey } = await import('./keys.ts')
  const { text, stored } = newKey('first', group, { limits: {}, enabled: true })
  // Another instance on the same store may have created the key first.
  return (await access.createKey(stored)) ? { created: text, storedKeys: [] } : { storedKeys: [stored] }
}

/** Creates the first user and returns the password, or undefined if there already are users. */
async function firstUser(users: Store['console'], expected?: Promise<NewUser>): Promise<string | undefined> {
  if ((await users.users()).length > 0) return undefined
  const { user, password } = await (expected ?? newFirstUser())
  return (await users.addUser(user, true)) ? password : undefined
}

/**
 * Prepares keys and users when a gateway starts. An unreadable store causes a warning, but does not prevent the start.
 *
 * @param expected the first user, if its creation has already started.
 * @param hasPage true if the web console is built. Otherwise no first user is created, because a later start with the
 *   console creates the user and shows the password.
 */
export async function prepareStart(
  config: Config,
  terminal: Terminal,
  expected?: Promise<NewUser>,
  hasPage = true,
): Promise<FirstStart> {
  const { console: _, ...withoutConsole } = config
  if (config.console !== undefined && !hasPage)
    return { ...(await prepareStart(withoutConsole, terminal)), consoleNotBuilt: true }
  try {
    return await firstStart(config, terminal, expected)
  } catch (thrown) {
    terminal.fault(`warning: stored keys cannot be read: ${(thrown as Error).message}`)
    return { storedKeys: [], storeUnreadable: true }
  }
}
