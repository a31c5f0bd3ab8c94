import type { ConsoleRecords, ConsoleUser, Role } from '../../store/console-records.ts'
import { freshPassword } from './fresh-password.ts'
import { hashPassword } from './scrypt.ts'
import { subjectOf } from './user-name.ts'

export { freshPassword } from './fresh-password.ts'

/** A user and the password, which can be shown only now. */
export interface NewUser {
  readonly user: ConsoleUser
  readonly password: string
}

/** A user who signs in with that password. Rejects with GatewayError where too many passwords are hashed just now. */
export const newUser = async (name: string, role: Role, password: string): Promise<ConsoleUser> => ({
  ...{ name, role, source: 'password', enabled: true, createdAt: Date.now() },
  password: await hashPassword(password),
})

/** Gives a user a random password, ends the sessions, and lets the user in where too many passwords were wrong. */
export async function resetPassword(
  records: ConsoleRecords,
  name: string,
): Promise<{ readonly text: string } | 'unknown' | 'oidc'> {
  const user = await records.user(name)
  if (user === undefined) return 'unknown'
  if (user.source === 'oidc') return 'oidc'
  const text = freshPassword()
  if ((await records.changeUser(name, { password: await hashPassword(text) })) === undefined) return 'unknown'
  await records.unlock(subjectOf(name))
  return { text }
}
