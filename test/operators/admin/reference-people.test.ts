import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AdminServer } from '../../builders/admin.ts'
import { cookiesOf, SignedIn, signInAs } from '../../builders/console.ts'
import { type Asked, TestServer } from '../../builders/gateway.ts'
import { RUNS } from '../../laws/runs.ts'

/*
 * Generated sequences of changes of users, their sessions and admin tokens, by different people at two processes, against
 * a small model: who may do what afterwards, and an audit log with exactly one entry by the right person for each change.
 */

const CONFIG = { usage: { retention: 86_400_000 } }

let admin: AdminServer
let servers: readonly TestServer[]
beforeAll(async () => {
  admin = await AdminServer.open([], CONFIG)
  servers = [admin.testServer, await TestServer.open([], { keep: admin.path, config: CONFIG })]
})
afterAll(async () => {
  await servers[1]!.server.close(0)
  await admin.close()
})

type Role = 'admin' | 'viewer'

/** A step of somebody: `by` selects one of the sessions and tokens that exist or existed. */
type Step = { readonly by: number; readonly at: 0 | 1 } & (
  | { readonly do: 'add'; readonly name: string; readonly role: Role }
  | { readonly do: 'change'; readonly name: string; readonly role?: Role; readonly enabled?: boolean }
  | { readonly do: 'reset' | 'delete' | 'endSessions' | 'signIn'; readonly name: string }
  | { readonly do: 'signOut' | 'signOutEverywhere' | 'changePassword' }
  | { readonly do: 'addToken' | 'dropToken' }
)

const by = fc.nat(20)
const at = fc.constantFrom(0 as const, 1 as const)
const name = fc.constantFrom('ada', 'bob')
const role = fc.constantFrom('admin' as const, 'viewer' as const)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('add' as const), by, at, name, role }),
  fc.record(
    { do: fc.constant('change' as const), by, at, name, role, enabled: fc.boolean() },
    { requiredKeys: ['do', 'by', 'at', 'name'] },
  ),
  fc.record({ do: fc.constantFrom('reset' as const, 'delete' as const, 'endSessions' as const), by, at, name }),
  fc.record({ do: fc.constant('signIn' as const), by, at, name }),
  fc.record({ do: fc.constant('signIn' as const), by, at, name }),
  fc.record({
    do: fc.constantFrom('signOut' as const, 'signOutEverywhere' as const, 'changePassword' as const),
    ...{ by, at },
  }),
  fc.record({ do: fc.constantFrom('addToken' as const, 'dropToken' as const), by, at }),
)

interface User {
  role: Role
  enabled: boolean
  password: string
}

/** Somebody who sends requests: a session of a user, or a token. */
interface Sender {
  readonly name: string
  readonly kind: 'user' | 'token'
  readonly id?: string
  readonly ask: (at: 0 | 1, method: string, path: string, body?: unknown) => Promise<Asked>
  ended: boolean
}

class Model {
  readonly users = new Map<string, User>()
  readonly senders: Sender[] = []
  /** Entries of the audit log, oldest first: who did what to whom. */
  readonly audit: string[] = []

  roleOf(sender: Sender): Role | undefined {
    if (sender.ended) return undefined
    return sender.kind === 'token' ? 'admin' : this.users.get(sender.name)?.role
  }

  /** The status that a refused sender gets, if any. */
  refusal = (sender: Sender): number | undefined => {
    const role = this.roleOf(sender)
    return role === undefined ? 401 : role === 'viewer' ? 403 : undefined
  }

  end(name: string, except?: Sender): void {
    for (const one of this.senders) if (one.kind === 'user' && one.name === name && one !== except) one.ended = true
  }

  isLastAdmin(name: string): boolean {
    const isAdmin = ({ role, enabled }: User): boolean => role === 'admin' && enabled
    const user = this.users.get(name)
    return (
      user !== undefined && isAdmin(user) && ![...this.users].some(([other, one]) => other !== name && isAdmin(one))
    )
  }
}

const tokenSender = (name: string, id: string, secret: string): Sender => ({
  ...{ name, kind: 'token', id, ended: false },
  ask: (at, method, path, body) =>
    servers[at]!.ask(`/admin/v1${path}`, body, { method, headers: { authorization: `Bearer ${secret}` } }),
})

const sessionSender = (name: string, session: SignedIn): Sender => ({
  ...{ name, kind: 'user', ended: false },
  ask: (at, method, path, body) => session.atOther(servers[at]!).ask(method, path, body),
})

let passwords = 0
let tokens = 0

async function run(model: Model, step: Step): Promise<void> {
  const sender = model.senders[step.by % model.senders.length]!
  const ask = (method: string, path: string, body?: unknown) => sender.ask(step.at, method, path, body)
  const audit = (action: string, target: string) =>
    model.audit.push(`${sender.kind} ${sender.name} ${action} ${target}`)
  const refused = model.refusal(sender)
  switch (step.do) {
    case 'add': {
      const { name, role } = step
      const { status, json } = await ask('POST', '/users', { name, role })
      if (refused !== undefined) return expect(status).toBe(refused)
      if (model.users.has(name)) return expect(status).toBe(409)
      expect(status).toBe(201)
      model.users.set(name, { role, enabled: true, password: json.password })
      audit('createUser', name)
      return
    }
    case 'change': {
      const { name, role, enabled } = step
      const user = model.users.get(name)
      const changes = { ...(role && { role }), ...(enabled === undefined ? {} : { enabled }) }
      const { status } = await ask('PATCH', `/users/${name}`, changes)
      if (refused !== undefined) return expect(status).toBe(refused)
      if (user === undefined) return expect(status).toBe(404)
      const loses = role === 'viewer' || enabled === false
      if (loses && model.isLastAdmin(name)) return expect(status).toBe(409)
      expect(status).toBe(200)
      Object.assign(user, changes)
      if (!user.enabled) model.end(name)
      audit('changeUser', name)
      return
    }
    case 'reset': {
      const { status, json } = await ask('POST', `/users/${step.name}/password`)
      if (refused !== undefined) return expect(status).toBe(refused)
      const user = model.users.get(step.name)
      if (user === undefined) return expect(status).toBe(404)
      expect(status).toBe(200)
      user.password = json.password
      model.end(step.name)
      audit('resetUserPassword', step.name)
      return
    }
    case 'delete': {
      const { status } = await ask('DELETE', `/users/${step.name}`)
      if (refused !== undefined) return expect(status).toBe(refused)
      if (!model.users.has(step.name)) return expect(status).toBe(404)
      if (model.isLastAdmin(step.name)) return expect(status).toBe(409)
      expect(status).toBe(204)
      model.users.delete(step.name)
      model.end(step.name)
      audit('deleteUser', step.name)
      return
    }
    case 'endSessions': {
      const { status } = await ask('DELETE', `/users/${step.name}/sessions`)
      if (refused !== undefined) return expect(status).toBe(refused)
      if (!model.users.has(step.name)) return expect(status).toBe(404)
      expect(status).toBe(204)
      model.end(step.name)
      audit('endUserSessions', step.name)
      return
    }
    case 'signIn': {
      const user = model.users.get(step.name)
      if (user?.enabled !== true) return
      const answer = await signInAs(servers[step.at]!, step.name, user.password)
      expect(answer.status, answer.text).toBe(200)
      expect(answer.json.user).toEqual({ name: step.name, role: user.role })
      expect(cookiesOf(answer)).not.toBe('')
      model.senders.push(sessionSender(step.name, await SignedIn.at(servers[step.at]!, step.name, user.password)))
      return
    }
    case 'signOut':
    case 'signOutEverywhere': {
      if (sender.kind === 'token') return
      const everywhere = step.do === 'signOutEverywhere'
      const { status } = await ask('DELETE', `/session${everywhere ? '?everywhere' : ''}`)
      if (sender.ended) return expect(status).toBe(401)
      expect(status).toBe(204)
      if (everywhere) model.end(sender.name)
      else sender.ended = true
      return
    }
    case 'changePassword': {
      if (sender.kind === 'token') return
      const user = model.users.get(sender.name)
      const password = `password number ${passwords++}`
      const { status } = await ask('PUT', '/session/password', { current: user?.password ?? 'nothing', password })
      if (sender.ended) return expect(status).toBe(401)
      expect(status).toBe(204)
      user!.password = password
      model.end(sender.name, sender)
      audit('changeOwnPassword', sender.name)
      return
    }
    case 'addToken': {
      const name = `token-${tokens++}`
      const { status, json } = await ask('POST', '/tokens', { name })
      if (refused !== undefined) return expect(status).toBe(refused)
      expect(status).toBe(201)
      model.senders.push(tokenSender(name, json.id, json.secret))
      audit('createToken', json.id)
      return
    }
    case 'dropToken': {
      const token = model.senders.findLast(({ kind, ended }) => kind === 'token' && !ended)!
      const isOwn = token.id === admin.tokenId
      const { status } = await ask('DELETE', `/tokens/${token.id}`)
      if (refused !== undefined) return expect(status).toBe(refused)
      if (isOwn) return expect(status).toBe(409)
      expect(status).toBe(204)
      token.ended = true
      audit('revokeToken', token.id!)
    }
  }
}

/** Compares what every sender may do at both processes with the model. */
async function compare(model: Model, since: string): Promise<void> {
  for (const at of [0, 1] as const)
    for (const sender of model.senders) {
      const role = model.roleOf(sender)
      const reads = (await sender.ask(at, 'GET', '/keys')).status
      expect(reads, sender.name).toBe(role === undefined ? 401 : 200)
      for (const path of ['/users', '/audit'])
        expect((await sender.ask(at, 'GET', path)).status).toBe(model.refusal(sender) ?? 200)
      if (role === 'viewer') expect((await sender.ask(at, 'POST', '/keys', { name: 'no' })).status).toBe(403)
    }
  const { json: users } = await admin.get('/users')
  expect(users.data.map(({ name, role, enabled }: User & { name: string }) => ({ name, role, enabled }))).toEqual(
    [...model.users]
      .map(([name, { role, enabled }]) => ({ name, role, enabled }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  )
  const { json: log, text } = await admin.get(`/audit?limit=500&since=${since}`)
  expect(
    log.data
      .map(
        (one: { [field: string]: string }) => `${one['actor_kind']} ${one['actor']} ${one['action']} ${one['target']}`,
      )
      .reverse(),
  ).toEqual(model.audit)
  for (const { password } of model.users.values()) expect(text).not.toContain(password)
}

async function clear(): Promise<void> {
  const { data: users } = (await admin.get('/users')).json
  // The last admin cannot be deleted through the API.
  for (const { name } of users) await admin.store.console.changeUser(name, { role: 'viewer' })
  for (const { name } of users) if ((await admin.delete(`/users/${name}`)).status !== 204) await dropLast(name)
  for (const { id } of (await admin.get('/tokens')).json.data)
    if (id !== admin.tokenId) await admin.delete(`/tokens/${id}`)
}

/** Deletes the last admin, which only another admin makes possible. */
async function dropLast(name: string): Promise<void> {
  await admin.post('/users', { name: 'spare', role: 'admin' })
  await admin.delete(`/users/${name}`)
}

test('people may do what a model of all changes says', { timeout: 120_000 + 3000 * RUNS }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async steps => {
      await clear()
      const model = new Model()
      for (const { name, role, enabled } of (await admin.get('/users')).json.data) {
        const { json } = await admin.post(`/users/${name}/password`)
        model.users.set(name, { role, enabled, password: json.password })
      }
      model.senders.push(tokenSender('tests', admin.tokenId, admin.token))
      await new Promise(resolve => setTimeout(resolve, 3))
      const since = new Date().toISOString()
      for (const one of steps) await run(model, one)
      await compare(model, since)
    }),
    { numRuns: Math.ceil(RUNS / 30) },
  )
})
