import { freshPassword } from '../operators/sign-in/fresh-password.ts'
import { newUser, resetPassword } from '../operators/sign-in/new-user.ts'
import { isUserName, userName } from '../operators/sign-in/user-name.ts'
import type { Role } from '../store/console-records.ts'
import { FIRST_USER } from './expected-user.ts'
import { program, type Terminal, UsageError } from './outcome.ts'
import { configAt, readStore, withStore } from './stored.ts'
import { minute, table } from './table.ts'

/** `interlingua console password [NAME]`: a new random password, printed alone on its line; the user's sessions end. */
export async function passwordCommand(written: string, file: string | undefined, terminal: Terminal): Promise<void> {
  const name = userName(written)
  const password = await withStore(configAt(file), async ({ console: users }) => {
    const reset = await resetPassword(users, name)
    if (reset !== 'unknown' || name !== FIRST_USER || (await users.users()).length > 0) return reset
    const text = freshPassword()
    return (await users.addUser(await newUser(name, 'admin', text), true)) ? { text } : 'unknown'
  })
  if (password === 'oidc') throw new Error(`${name} signs in at the provider, and has no password here`)
  if (password === 'unknown') throw new Error(`there is no user "${name}"; \`${program()} console users\` lists them`)
  terminal.out(password.text)
  terminal.fault(`It is ${name}'s, and shown only now. Whoever was signed in as ${name} is not any more.`)
}

/** `interlingua console user add NAME`: a user with a random password, which is printed alone on its line. */
export async function addUserCommand(
  written: string,
  { role }: { readonly role: Role },
  file: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const name = userName(written)
  if (!isUserName(name))
    throw new UsageError('a name begins with a letter or a digit, and has . _ @ + - ( ) and spaces inside')
  const password = freshPassword()
  const user = await newUser(name, role, password)
  const isAdded = await withStore(configAt(file), ({ console: users }) => users.addUser(user))
  if (!isAdded) throw new Error(`there is a user "${name}" already`)
  terminal.out(password)
  terminal.fault(
    `It is shown only now. ${name} may ${role === 'admin' ? 'change everything' : 'look at everything'} in the console.`,
  )
}

/** The users of the console, one a line. */
export async function usersCommand(file: string | undefined, terminal: Terminal): Promise<void> {
  const users = (await readStore(configAt(file), ({ console: records }) => records.users())) ?? []
  if (users.length === 0)
    return terminal.fault(
      `There are no users yet; \`${program()} console password\` makes the first one, ${FIRST_USER}.`,
    )
  const rows = users.map(({ name, role, source, enabled, createdAt, signedInAt }) => [
    ...[name, role, source, enabled ? 'yes' : 'no'],
    ...[minute(createdAt), minute(signedInAt) || 'never'],
  ])
  terminal.out(table([['NAME', 'ROLE', 'SIGNS IN BY', 'ENABLED', 'CREATED', 'LAST SIGN-IN'], ...rows]))
}
