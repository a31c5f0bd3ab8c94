import type { EntryOf } from '../../store/audit-records.ts'
import type { ConsoleRecords, ConsoleUser, Role } from '../../store/console-records.ts'
import { randomPassword } from './random-password.ts'
import { hashPassword } from './scrypt.ts'
import { accountHash } from './user-name.ts'

export { randomPassword } from './random-password.ts'

/** A user with the plain-text password, which cannot be shown later. */
export interface NewUser {
  readonly user: ConsoleUser
  readonly password: string
}

/** Creates a user with a password. Rejects with GatewayError if too many passwords are being hashed. */
export const newUser = async (name: string, role: Role, password: string): Promise<ConsoleUser> => ({
  ...{ name, role, source: 'password', enabled: true, createdAt: Date.now() },
  password: await hashPassword(password),
})

/** Sets a random password, ends the user's sessions and removes a lockout. */
export async function resetPassword(
  records: ConsoleRecords,
  name: string,
  entryOf?: EntryOf<ConsoleUser>,
): Promise<{ readonly text: string } | 'unknown' | 'oidc'> {
  const user = await records.user(name)
  if (user === undefined) return 'unknown'
  if (user.source === 'oidc') return 'oidc'
  const text = randomPassword()
  const change = { password: await hashPassword(text) }
  if ((await records.changeUser(name, change, undefined, entryOf)) === undefined) return 'unknown'
  await records.unlock(accountHash(name))
  return { text }
}
