import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AdminServer } from '../../builders/admin.ts'
import { ASK, hello } from '../../builders/chat.ts'
import { channelAt, configOf } from '../../builders/config.ts'
import { TestServer } from '../../builders/gateway.ts'
import { CHAT_PATH } from '../../builders/paths.ts'
import { FakeUpstream } from '../../builders/upstream.ts'
import { RUNS } from '../../laws/runs.ts'

/*
 * Generated sequences of changes against a small model of keys and groups: each answer, the lists, the audit log and
 * what the keys may do are as the model says, also for a second process on the same store.
 */

/** Callers of the model have an address each, because wrong keys delay the answers to their address. */
const CONFIG = {
  usage: { retention: 86_400_000 },
  server: { ...configOf([]).server, trustedProxies: ['127.0.0.0/8'] },
}
let callers = 0
const nextAddress = (): string => `10.${[16, 8, 0].map(shift => (callers >> shift) & 255).join('.')}`

let admin: AdminServer
let other: TestServer
let upstream: FakeUpstream
beforeAll(async () => {
  upstream = await FakeUpstream.open(hello)
  const channels = [channelAt(upstream.address)]
  admin = await AdminServer.open(channels, CONFIG)
  other = await TestServer.open(channels, { keep: admin.path, config: CONFIG })
})
afterAll(async () => {
  await other.server.close(0)
  await admin.close()
  await upstream.close()
})

/** Settings of keys and groups that sequences change. */
interface Fields {
  readonly models?: readonly string[] | null
  readonly doors?: readonly string[] | null
  readonly rpm?: number | null
  readonly budget?: { readonly day?: number | null; readonly month?: number | null } | null
}

interface KeyFields extends Fields {
  readonly enabled?: boolean
  readonly expires_at?: string | null
}

type Step =
  | { readonly do: 'create' | 'change'; readonly name: string; readonly group?: string; readonly fields: KeyFields }
  | { readonly do: 'revoke' | 'rotate' | 'rotateWithGrace' | 'rename'; readonly name: string; readonly to: string }
  | { readonly do: 'createGroup' | 'putGroup' | 'changeGroup'; readonly name: string; readonly fields: Fields }
  | { readonly do: 'dropGroup'; readonly name: string; readonly force: boolean }

const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })
const FIELDS = {
  models: orNull(fc.constantFrom(['m'], ['other'], ['*'], ['m', 'other'], [])),
  doors: orNull(fc.constantFrom(['chat'], ['messages'])),
  rpm: orNull(fc.constantFrom(1000, 2000)),
  budget: orNull(fc.record({ day: orNull(fc.constant(9)), month: orNull(fc.constant(99)) }, { requiredKeys: [] })),
}
const TIMES = { expires_at: orNull(fc.constantFrom('2020-01-01T00:00:00.000Z', '2090-01-01T00:00:00.000Z')) }
const fields = fc.record(FIELDS, { requiredKeys: [] })
const keyFields = fc.record({ ...FIELDS, ...TIMES, enabled: fc.boolean() }, { requiredKeys: [] })
const name = fc.constantFrom('a', 'b', 'c')
const group = fc.constantFrom('g', 'h')
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record(
    { do: fc.constantFrom('create' as const, 'change' as const), name, group, fields: keyFields },
    { requiredKeys: ['do', 'name', 'fields'] },
  ),
  fc.record({
    do: fc.constantFrom('revoke' as const, 'rotate' as const, 'rotateWithGrace' as const, 'rename' as const),
    ...{ name, to: name },
  }),
  fc.record({
    do: fc.constantFrom('createGroup' as const, 'putGroup' as const, 'changeGroup' as const),
    name: group,
    fields,
  }),
  fc.record({ do: fc.constant('dropGroup' as const), name: group, force: fc.boolean() }),
)

interface ModelKey {
  id: string
  name: string
  group: string
  fields: { [field: string]: unknown }
  enabled: boolean
  isRevoked: boolean
  /** Secrets that work, newest first, and those that no longer do. */
  secrets: string[]
  ended: string[]
}

/** Applies written fields: null removes a field. */
function applied(before: { [field: string]: unknown }, written: object): { [field: string]: unknown } {
  const after = { ...before }
  for (const [field, value] of Object.entries(written)) {
    if (field === 'budget' && value !== null) {
      const budget = applied((after['budget'] ?? {}) as { [field: string]: unknown }, value)
      if (Object.keys(budget).length > 0) after['budget'] = budget
      else delete after['budget']
    } else if (value === null) delete after[field]
    else after[field] = value
  }
  return after
}

class Model {
  readonly keys: ModelKey[] = []
  readonly groups = new Map<string, { [field: string]: unknown }>()
  /** Actions with their targets, oldest first. */
  readonly audit: string[] = []
  readonly prefix: string

  constructor(prefix: string) {
    this.prefix = prefix
  }

  find = (name: string) => this.keys.find(key => key.name === name && !key.isRevoked)

  /** Possible statuses of a request for the model `m` in the format `chat`. */
  statusesOf(key: ModelKey, secret: string): readonly number[] {
    const { fields } = key
    const group = key.group === 'default' ? {} : this.groups.get(key.group)
    if (key.isRevoked) return [401]
    // A missing group is stated before other reasons by a process that still remembers an ended secret.
    if (group === undefined) return key.ended.includes(secret) ? [401, 403] : [403]
    const isExpired = typeof fields['expires_at'] === 'string' && Date.parse(fields['expires_at']) < Date.now()
    if (!key.enabled || isExpired || key.ended.includes(secret)) return [401]
    const mayUse = (own: { [field: string]: unknown }, field: string, value: string) => {
      const allowed = own[field] as readonly string[] | undefined
      return allowed === undefined || allowed.includes(value) || (field === 'models' && allowed.includes('*'))
    }
    return [fields, group].every(one => mayUse(one, 'models', 'm') && mayUse(one, 'doors', 'chat')) ? [200] : [403]
  }
}

/** Sends a step, and checks its answer against the model. */
async function run(model: Model, step: Step): Promise<void> {
  const at = (name: string): string => `${model.prefix}${name}`
  const audit = (action: string, target: string) => model.audit.push(`${action} ${target}`)
  const groupKnown = (group: string | undefined) => group === undefined || model.groups.has(group)
  switch (step.do) {
    case 'create': {
      const { name, group, fields } = step
      const body = { name: at(name), ...fields, ...(group && { group: at(group) }) }
      const { status, json } = await admin.post('/keys', body)
      if (!groupKnown(group)) return expect(status).toBe(400)
      if (model.find(name) !== undefined) return expect(status).toBe(409)
      expect(status, JSON.stringify(json)).toBe(201)
      const { enabled = true, ...others } = fields
      model.keys.push({
        ...{ id: json.id, name, group: group ?? 'default', fields: applied({}, others), enabled },
        ...{ isRevoked: false, secrets: [json.secret], ended: [] },
      })
      audit('createKey', json.id)
      return
    }
    case 'change': {
      const { name, group, fields } = step
      const key = model.find(name)
      const path = `/keys/${key?.id ?? model.keys.find(one => one.name === name)?.id ?? '0'.repeat(32)}`
      const { status } = await admin.patch(path, { ...fields, ...(group && { group: at(group) }) })
      if (key === undefined) return expect(status).toBe(404)
      if (!groupKnown(group)) return expect(status).toBe(400)
      expect(status).toBe(200)
      const { enabled = key.enabled, ...others } = fields
      const next = { ...key, enabled, fields: applied(key.fields, others), group: group ?? key.group }
      if (!isDeepStrictEqual(next, key)) audit('changeKey', key.id)
      Object.assign(key, next)
      return
    }
    case 'rename': {
      const key = model.find(step.name)
      const { status } = await admin.patch(`/keys/${key?.id ?? '0'.repeat(32)}`, { name: at(step.to) })
      if (key === undefined) return expect(status).toBe(404)
      if (step.to !== step.name && model.find(step.to)) return expect(status).toBe(409)
      expect(status).toBe(200)
      // A change that changes nothing is not in the audit log.
      if (step.to !== step.name) audit('changeKey', key.id)
      key.name = step.to
      return
    }
    case 'revoke': {
      const key = model.find(step.name)
      const { status } = await admin.delete(`/keys/${key?.id ?? '0'.repeat(32)}`)
      if (key === undefined) return expect(status).toBe(404)
      expect(status).toBe(204)
      key.isRevoked = true
      audit('revokeKey', key.id)
      return
    }
    case 'rotate':
    case 'rotateWithGrace': {
      const key = model.find(step.name)
      const body = step.do === 'rotate' ? {} : { grace: '1h' }
      const { status, json } = await admin.post(`/keys/${key?.id ?? '0'.repeat(32)}/rotate`, body)
      if (key === undefined) return expect(status).toBe(404)
      expect(status).toBe(200)
      if (step.do === 'rotate') key.ended.push(...key.secrets.splice(0))
      key.secrets.unshift(json.secret)
      audit('rotateKey', key.id)
      return
    }
    case 'createGroup': {
      const { status } = await admin.post('/groups', { name: at(step.name), ...step.fields })
      if (model.groups.has(step.name)) return expect(status).toBe(409)
      expect(status).toBe(201)
      model.groups.set(step.name, applied({}, step.fields))
      audit('createGroup', at(step.name))
      return
    }
    case 'putGroup': {
      expect((await admin.put(`/groups/${at(step.name)}`, step.fields)).status).toBe(200)
      const next = applied({}, step.fields)
      if (!isDeepStrictEqual(next, model.groups.get(step.name))) audit('putGroup', at(step.name))
      model.groups.set(step.name, next)
      return
    }
    case 'changeGroup': {
      const before = model.groups.get(step.name)
      const { status } = await admin.patch(`/groups/${at(step.name)}`, step.fields)
      if (before === undefined) return expect(status).toBe(404)
      expect(status).toBe(200)
      const next = applied(before, step.fields)
      if (!isDeepStrictEqual(next, before)) audit('changeGroup', at(step.name))
      model.groups.set(step.name, next)
      return
    }
    case 'dropGroup': {
      const { status } = await admin.delete(`/groups/${at(step.name)}${step.force ? '?force' : ''}`)
      if (!model.groups.has(step.name)) return expect(status).toBe(404)
      const isUsed = model.keys.some(key => key.group === step.name && !key.isRevoked)
      if (isUsed && !step.force) return expect(status).toBe(409)
      expect(status).toBe(204)
      model.groups.delete(step.name)
      audit('deleteGroup', at(step.name))
    }
  }
}

const SHOWN = ['models', 'doors', 'rpm', 'budget', 'expires_at'] as const
const shownOf = (json: object) =>
  Object.fromEntries(Object.entries(json).filter(([field]) => (SHOWN as readonly string[]).includes(field)))

/** Compares lists, the audit log and requests of callers with the model. */
async function compare(model: Model, since: string): Promise<void> {
  const at = (name: string): string => `${model.prefix}${name}`
  const groups = (await admin.get('/groups')).json.data.filter(({ name }: { name: string }) =>
    name.startsWith(model.prefix),
  )
  expect(Object.fromEntries(groups.map((one: { name: string }) => [one.name, shownOf(one)]))).toEqual(
    Object.fromEntries([...model.groups].map(([name, fields]) => [at(name), { models: ['*'], ...fields }])),
  )
  for (const key of model.keys) {
    const { json } = await admin.get(`/keys/${key.id}`)
    expect({ ...shownOf(json), name: json.name, group: json.group, enabled: json.enabled }).toEqual({
      ...{ ...key.fields, name: at(key.name), enabled: key.enabled },
      group: key.group === 'default' ? 'default' : at(key.group),
    })
    expect(json.revoked_at !== undefined).toBe(key.isRevoked)
    expect(json.secrets.length).toBe(key.secrets.length + key.ended.length)
  }
  const listed: string[] = []
  for (let cursor: string | undefined; ; ) {
    const { json } = await admin.get(`/keys?limit=2&revoked${cursor ? `&cursor=${cursor}` : ''}`)
    listed.push(
      ...json.data
        .filter((one: { name: string }) => one.name.startsWith(model.prefix))
        .map((one: { id: string }) => one.id),
    )
    cursor = json.next_cursor
    if (cursor === undefined) break
  }
  expect(listed.toSorted()).toEqual(model.keys.map(({ id }) => id).toSorted())
  const audited = (await admin.get(`/audit?limit=200&since=${since}`)).json.data
  const ours = new Set([...model.keys.map(({ id }) => id), at('g'), at('h')])
  expect(
    audited
      .filter(({ target }: { target: string }) => ours.has(target))
      .map(({ action, target }: { action: string; target: string }) => `${action} ${target}`)
      .reverse(),
  ).toEqual(model.audit)
}

async function callAll(model: Model, server: TestServer): Promise<void> {
  for (const key of model.keys)
    for (const secret of [...key.secrets, ...key.ended]) {
      callers += 256
      const headers = { authorization: `Bearer ${secret}`, 'x-forwarded-for': nextAddress() }
      const { status } = await server.ask(CHAT_PATH, ASK, { headers })
      expect(model.statusesOf(key, secret), JSON.stringify({ ...key, secret })).toContain(status)
    }
}

let runs = 0

test('keys and groups are what a model of all changes says', { timeout: 120_000 + 400 * RUNS }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async steps => {
      const model = new Model(`r${runs++}-`)
      const since = new Date(Date.now() - 1).toISOString()
      for (const one of steps) await run(model, one)
      await compare(model, since)
      await callAll(model, admin.testServer)
      await expect.poll(async () => callAll(model, other).then(() => true), { timeout: 5000, interval: 200 }).toBe(true)
    }),
    { numRuns: Math.ceil(RUNS / 10) },
  )
})
