import { USER_AUDIT } from '../operators/admin/audit.ts'
import { newUser, resetPassword } from '../operators/sign-in/new-user.ts'
import { randomPassword } from '../operators/sign-in/random-password.ts'
import { isUserName, userName } from '../operators/sign-in/user-name.ts'
import type { Role } from '../store/console-records.ts'
import { recordingFor } from './audited.ts'
import { FIRST_USER } from './expected-user.ts'
import { program, type Terminal, UsageError } from './outcome.ts'
import { minute, table } from './table.ts'
import { configAt, readStore, withStore } from './with-store.ts'

/**
 * `interlingua console password [NAME]`: sets a new random password, prints it alone on a line, and signs the user out.
 */
export async function passwordCommand(written: string, file: string | undefined, terminal: Terminal): Promise<void> {
  const name = userName(written)
  const config = configAt(file)
  const password = await withStore(config, async store => {
    const { console: users } = store
    const reset = await resetPassword(users, name, recordingFor(config, 'resetUserPassword')(USER_AUDIT))
    if (reset !== 'unknown' || name !== FIRST_USER || (await users.users()).length > 0) return reset
    const text = randomPassword()
    const user = await newUser(name, 'admin', text)
    if (!(await users.addUser(user, true, recordingFor(config, 'createUser')(USER_AUDIT)))) return 'unknown'
    return { text }
  })
  if (password === 'oidc') throw new Error(`${name} signs in through the identity provider and has no password here`)
  if (password === 'unknown') throw new Error(`there is no user "${name}"; \`${program()} console users\` lists them`)
  terminal.out(password.text)
  terminal.fault(`This is the new password of ${name}, shown only once. All sessions of ${name} were signed out.`)
}

/** `interlingua console user add NAME`: adds a user with a random password, which is printed alone on a line. */
export async function addUserCommand(
  written: string,
  { role }: { readonly role: Role },
  file: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const name = userName(written)
  if (!isUserName(name))
    throw new UsageError(
      'a user name starts with a letter or digit and contains only letters, digits, spaces and . _ @ + - ( )',
    )
  const password = randomPassword()
  const user = await newUser(name, role, password)
  const config = configAt(file)
  const entryOf = recordingFor(config, 'createUser')(USER_AUDIT)
  const isAdded = await withStore(config, store => store.console.addUser(user, false, entryOf))
  if (!isAdded) throw new Error(`a user named "${name}" already exists`)
  terminal.out(password)
  terminal.fault(
    `This password is shown only once. ${name} can ${role === 'admin' ? 'change everything' : 'view everything'} in the console.`,
  )
}

/** `interlingua console users`: lists the console users, one per line. */
export async function usersCommand(file: string | undefined, terminal: Terminal): Promise<void> {
  const users = (await readStore(configAt(file), ({ console: records }) => records.users())) ?? []
  if (users.length === 0)
    return terminal.fault(
      `There are no users yet; \`${program()} console password\` creates the first one, ${FIRST_USER}.`,
    )
  const rows = users.map(({ name, role, source, enabled, createdAt, signedInAt }) => [
    ...[name, role, source, enabled ? 'yes' : 'no'],
    ...[minute(createdAt), minute(signedInAt) || 'never'],
  ])
  terminal.out(table([['NAME', 'ROLE', 'SIGNS IN BY', 'ENABLED', 'CREATED', 'LAST SIGN-IN'], ...rows]))
}
