import { expect } from 'vitest'
import { hashPassword } from '../../src/operators/sign-in/scrypt.ts'
import type { ConsoleUser, Role } from '../../src/store/console-records.ts'
import type { Store } from '../../src/store/store.ts'
import type { Asked, SendOptions, TestServer } from './gateway.ts'

/** Hashes of the passwords of test users. Each password is hashed once, because hashing is slow on purpose. */
const hashes = new Map<string, Promise<string>>()

export const PASSWORD = 'correct horse battery'

const hashed = (password: string): Promise<string> => {
  const known = hashes.get(password) ?? hashPassword(password)
  hashes.set(password, known)
  return known
}

/** Adds a user with a password to a store. */
export async function addUser(
  store: Store,
  name: string,
  { role = 'admin', password = PASSWORD }: { readonly role?: Role; readonly password?: string } = {},
): Promise<ConsoleUser> {
  const user: ConsoleUser = {
    ...{ name, role, source: 'password', enabled: true, createdAt: Date.now() },
    password: await hashed(password),
  }
  expect(await store.console.addUser(user)).toBe(true)
  return user
}

/** Sends a sign-in as a page of the gateway does. Further headers replace the default ones. */
export const signInAs = (
  server: TestServer,
  name: string,
  password: string = PASSWORD,
  headers: { readonly [name: string]: string } = {},
): Promise<Asked> =>
  server.ask(
    '/admin/v1/session',
    { name, password },
    { headers: { authorization: '', 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers } },
  )

/** The cookies of an answer, as a browser sends them back. */
export const cookiesOf = ({ headers }: Asked): string =>
  [(headers as { 'set-cookie'?: readonly string[] | string })['set-cookie'] ?? []]
    .flat()
    .map(one => one.split(';')[0])
    .join('; ')

/** A signed-in user. Requests have the cookie and the CSRF token. */
export class SignedIn {
  readonly cookie: string
  readonly csrf: string
  readonly server: TestServer

  private constructor(server: TestServer, cookie: string, csrf: string) {
    this.server = server
    this.cookie = cookie
    this.csrf = csrf
  }

  static async at(server: TestServer, name: string, password?: string): Promise<SignedIn> {
    const answer = await signInAs(server, name, password)
    expect(answer.status, answer.text).toBe(200)
    return new SignedIn(server, cookiesOf(answer), answer.json.csrf)
  }

  /** The same session at another gateway. */
  atOther(server: TestServer): SignedIn {
    return new SignedIn(server, this.cookie, this.csrf)
  }

  /** Sends a request to a path below `/admin/v1`. An empty header removes the default one. */
  ask(method: string, path: string, body?: unknown, headers: SendOptions['headers'] = {}): Promise<Asked> {
    return this.server.ask(`/admin/v1${path}`, body, {
      method,
      headers: {
        ...{ authorization: '', cookie: this.cookie, 'x-csrf-token': this.csrf, 'sec-fetch-site': 'same-origin' },
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    })
  }
}
