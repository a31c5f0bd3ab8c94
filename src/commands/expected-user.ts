import { existsSync } from 'node:fs'
import type { Config } from '../config/index.ts'
import type { NewUser } from '../operators/sign-in/new-user.ts'

/** Name of the user created for a gateway without users. */
export const FIRST_USER = 'admin'

/** Creates the first console user with a random password. The user cannot sign in until the store has the user. */
export async function newFirstUser(): Promise<NewUser> {
  const { randomPassword: freshPassword, newUser } = await import('../operators/sign-in/new-user.ts')
  const password = freshPassword()
  return { user: await newUser(FIRST_USER, 'admin', password), password }
}

/**
 * Starts creating the first console user if the store certainly has no users, or returns undefined. Hashing the
 * password takes as long as the rest of the start, so it runs in parallel.
 */
export function expectedUser({ console, store }: Pick<Config, 'console' | 'store'>): Promise<NewUser> | undefined {
  if (console === undefined || store.engine !== 'sqlite' || existsSync(store.path)) return undefined
  const user = newFirstUser()
  // The code that awaits the promise handles the error. Until then, this prevents an unhandled rejection.
  user.catch(() => {})
  return user
}
