import type { BrowserContext } from 'playwright-core'
import type { Role } from '../../src/store/console-records.ts'
import { addUser, SignedIn } from '../builders/console.ts'
import type { ConsoleGateway } from './gateway.ts'

/** Test users by role. */
export const NAMES: { readonly [R in Role]: string } = { admin: 'ada', viewer: 'vera' }

/** Creates the user of a role and returns the name. */
export async function admit({ admin }: ConsoleGateway, role: Role = 'admin'): Promise<string> {
  const name = NAMES[role]
  if ((await admin.store.console.user(name)) === undefined) await addUser(admin.store, name, { role })
  return name
}

/** Signs a browser in as the user of a role. */
export async function signInto(context: BrowserContext, gateway: ConsoleGateway, role: Role): Promise<void> {
  const { admin, address } = gateway
  const { cookie } = await SignedIn.at(admin.testServer, await admit(gateway, role))
  const [key, value] = cookie.split('=') as [string, string]
  await context.addCookies([{ name: key, value, url: address, httpOnly: true, sameSite: 'Strict' }])
}
