import { existsSync } from 'node:fs'
import type { Config } from '../config/index.ts'
import type { NewUser } from '../operators/sign-in/new-user.ts'

/** The user that a gateway without users makes. */
export const FIRST_USER = 'admin'

/** The first user of the console, with a random password: nobody yet, until it is stored. */
export async function freshUser(): Promise<NewUser> {
  const { freshPassword, newUser } = await import('../operators/sign-in/new-user.ts')
  const password = freshPassword()
  return { user: await newUser(FIRST_USER, 'admin', password), password }
}

/**
 * Begins to make the first user of the console where none can have been stored: hashing the password takes as long as
 * the rest of a start, beside which it is done. Undefined where there may be users.
 */
export function expectedUser({ console, store }: Pick<Config, 'console' | 'store'>): Promise<NewUser> | undefined {
  if (console === undefined || store.engine !== 'sqlite' || existsSync(store.path)) return undefined
  const user = freshUser()
  // Whoever waits for it handles the fault.
  user.catch(() => {})
  return user
}
