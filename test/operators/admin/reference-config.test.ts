import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AdminServer } from '../../builders/admin.ts'
import { ANSWER, ASK, json } from '../../builders/chat.ts'
import { channelAt } from '../../builders/config.ts'
import { TestServer } from '../../builders/gateway.ts'
import { CHAT_PATH } from '../../builders/paths.ts'
import { FakeUpstream } from '../../builders/upstream.ts'
import { RUNS } from '../../laws/runs.ts'

/*
 * Generated sequences of changes of channels and settings of models against a small model of both: each answer, the
 * lists, the audit log, and what callers see (which models exist, who answers, what it costs) are as the model says, at
 * two processes on one store and after a restart.
 */

const UPSTREAMS = ['A', 'B'] as const
type UpstreamName = (typeof UPSTREAMS)[number]

let upstreams: { readonly [name in UpstreamName]: FakeUpstream }
let admin: AdminServer
let other: TestServer
let fixed: ReturnType<typeof channelAt>[]
/** Upstreams answer with their name and key, and count a million tokens of each kind. */
const openUpstream = (name: UpstreamName) =>
  FakeUpstream.open((response, { headers }) => {
    const content = `${name} ${headers['authorization']}`
    const usage = { prompt_tokens: 1e6, completion_tokens: 1e6, total_tokens: 2e6 }
    const choices = [{ ...ANSWER.choices[0], message: { role: 'assistant', content, refusal: null } }]
    json(response, { ...ANSWER, choices, usage })
  })

const CONFIG = {
  usage: { retention: 86_400_000 },
  models: new Map([
    ['fixed', { id: 'fixed', input: ['text' as const], output: ['text' as const], price: { input: 5 } }],
  ]),
}
beforeAll(async () => {
  upstreams = { A: await openUpstream('A'), B: await openUpstream('B') }
  const models = { named: new Map([['fixed', 'fixed']]), patterns: [] }
  fixed = [channelAt(upstreams.A.address, { name: 'filed', key: 'key-of-file', models })]
  admin = await AdminServer.open(fixed, CONFIG)
  other = await TestServer.open(fixed, { keep: admin.path, config: CONFIG })
})
afterAll(async () => {
  await other.server.close(0)
  await admin.close()
  for (const upstream of Object.values(upstreams)) await upstream.close()
})

type Models = readonly string[] | { readonly [id: string]: string }

/** The generated fields of a channel. */
interface ChannelFields {
  readonly models?: Models
  readonly priority?: number | null
  readonly weight?: number | null
  readonly key?: string
}

interface ModelFields {
  readonly name?: string | null
  readonly context?: number | null
  readonly order?: string | null
  readonly price?: { readonly [kind: string]: number | null } | null
  readonly fallbacks?: readonly string[] | null
}

type Step =
  | { readonly do: 'create'; readonly name: string; readonly at: UpstreamName; readonly fields: ChannelFields }
  | { readonly do: 'change'; readonly name: string; readonly fields: ChannelFields; readonly sendsBack: boolean }
  | { readonly do: 'move'; readonly name: string; readonly at: UpstreamName; readonly key?: string }
  | { readonly do: 'delete' | 'drain' | 'resume'; readonly name: string }
  | { readonly do: 'put' | 'patch'; readonly id: string; readonly fields: ModelFields }
  | { readonly do: 'drop'; readonly id: string }

const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })
const some = { requiredKeys: [] }
const CHANNELS = ['a', 'b', 'filed']
const MODELS = ['m', 'n', 'fixed']
const channelName = fc.constantFrom(...CHANNELS)
const modelId = fc.constantFrom(...MODELS)
const at = fc.constantFrom(...UPSTREAMS)
const models: fc.Arbitrary<Models> = fc.oneof(
  fc.subarray(MODELS, { minLength: 1 }),
  fc.constantFrom({ m: 'u' }, { n: 'm' }, { m: 'u', fixed: 'v' }),
)
const key = fc.constantFrom('key-one', 'key-two')
const FIELDS = { priority: orNull(fc.constantFrom(0, 1)), weight: orNull(fc.constantFrom(1, 2)) }
const channelFields = fc.record({ ...FIELDS, models, key }, some) as fc.Arbitrary<ChannelFields>
const price = fc.record({ input: orNull(fc.constantFrom(1, 2)), output: orNull(fc.constantFrom(3, 4)) }, some)
const modelFields = fc.record(
  {
    ...{ name: orNull(fc.constant('Shown')), context: orNull(fc.constant(1000)), price: orNull(price) },
    order: orNull(fc.constantFrom('weight', 'cost')),
    fallbacks: orNull(fc.subarray(['n', 'fixed'], { minLength: 1 })),
  },
  some,
) as fc.Arbitrary<ModelFields>
const step = fc.oneof(
  fc.record({ do: fc.constant('create'), name: channelName, at, fields: channelFields }),
  fc.record({ do: fc.constant('change'), name: channelName, fields: channelFields, sendsBack: fc.boolean() }),
  fc.record({ do: fc.constant('move'), name: channelName, at, key }, { requiredKeys: ['do', 'name', 'at'] }),
  fc.record({ do: fc.constantFrom('delete', 'drain', 'resume'), name: channelName }),
  fc.record({ do: fc.constantFrom('put', 'patch'), id: modelId, fields: modelFields }),
  fc.record({ do: fc.constant('drop'), id: modelId }),
) as fc.Arbitrary<Step>

interface ModelChannel {
  at: UpstreamName
  key: string
  models: Models
  priority: number
  weight: number
}

type Settings = { readonly [field: string]: unknown }

/** Removes what is null, also in maps. */
function patched(before: Settings, changes: object): Settings {
  const after: { [field: string]: unknown } = { ...before }
  for (const [field, value] of Object.entries(changes))
    if (value === null) delete after[field]
    else if (typeof value === 'object' && !Array.isArray(value))
      after[field] = patched((after[field] ?? {}) as Settings, value)
    else after[field] = value
  return after
}

class Model {
  readonly channels = new Map<string, ModelChannel>()
  readonly drained = new Set<string>()
  readonly settings = new Map<string, Settings>()
  readonly audit: string[] = []

  /** Channels that have a model and are not drained, with the id at the upstream. */
  targets(id: string) {
    const all = [
      ...(id === 'fixed'
        ? [{ name: 'filed', at: 'A' as const, key: 'key-of-file', priority: 0, upstream: 'fixed' }]
        : []),
      ...[...this.channels].flatMap(([name, one]) => {
        const ids: { readonly [id: string]: string } = Array.isArray(one.models)
          ? Object.fromEntries(one.models.map(model => [model, model]))
          : (one.models as { readonly [id: string]: string })
        return id in ids ? [{ name, at: one.at, key: one.key, priority: one.priority, upstream: ids[id]! }] : []
      }),
    ]
    return all
  }

  usable = (id: string) => this.targets(id).filter(({ name }) => !this.drained.has(name))

  settingsOf = (id: string): Settings | undefined => (id === 'fixed' ? { price: { input: 5 } } : this.settings.get(id))
}

const urlOf = (name: UpstreamName): string => `${upstreams[name].address}/v1`

/** The config of a stored channel as the API shows it, with references to its secrets. */
const shownConfig = async (name: string): Promise<object> => (await admin.get(`/channels/${name}`)).json.config

async function run(model: Model, step: Step): Promise<void> {
  const audit = (action: string, target: string) => model.audit.push(`${action} ${target}`)
  switch (step.do) {
    case 'create': {
      const { name, at, fields } = step
      const key = fields.key ?? 'key-zero'
      const body = { name, provider: 'custom', base_url: urlOf(at), formats: ['chat'], models: ['m'], ...fields, key }
      const { status, json } = await admin.post('/channels', body)
      if (name === 'filed' || model.channels.has(name)) return expect(status).toBe(409)
      expect(status, JSON.stringify(json)).toBe(201)
      const { models = ['m'], priority, weight } = fields
      model.channels.set(name, { at, key, models, priority: priority ?? 0, weight: weight ?? 1 })
      audit('createChannel', name)
      return
    }
    case 'change': {
      const { name, fields, sendsBack } = step
      const before = await shownConfig(name)
      const sent = sendsBack ? before : {}
      const { status, json } = await admin.patch(`/channels/${name}`, { ...sent, ...fields })
      const channel = model.channels.get(name)
      if (channel === undefined) return expect(status).toBe(name === 'filed' ? 409 : 404)
      expect(status, JSON.stringify(json)).toBe(200)
      const { priority = channel.priority, weight = channel.weight, ...others } = fields
      Object.assign(channel, { ...others, priority: priority ?? 0, weight: weight ?? 1 })
      if (!isDeepStrictEqual(before, await shownConfig(name))) audit('changeChannel', name)
      return
    }
    case 'move': {
      const { name, at, key } = step
      const before = await shownConfig(name)
      const { status } = await admin.patch(`/channels/${name}`, { base_url: urlOf(at), ...(key && { key }) })
      const channel = model.channels.get(name)
      if (channel === undefined) return expect(status).toBe(name === 'filed' ? 409 : 404)
      // A stored key goes to no other address.
      if (channel.at !== at && key === undefined) return expect(status).toBe(400)
      expect(status).toBe(200)
      Object.assign(channel, { at, key: key ?? channel.key })
      if (!isDeepStrictEqual(before, await shownConfig(name))) audit('changeChannel', name)
      return
    }
    case 'delete': {
      const { status } = await admin.delete(`/channels/${step.name}`)
      if (step.name === 'filed') return expect(status).toBe(409)
      if (!model.channels.has(step.name)) return expect(status).toBe(404)
      expect(status).toBe(204)
      model.channels.delete(step.name)
      model.drained.delete(step.name)
      audit('deleteChannel', step.name)
      return
    }
    case 'drain':
    case 'resume': {
      const { status, json } = await admin.post(`/channels/${step.name}/${step.do}`)
      if (step.name !== 'filed' && !model.channels.has(step.name)) return expect(status).toBe(404)
      expect(status).toBe(200)
      const drains = step.do === 'drain'
      expect(json.state === 'drained').toBe(drains)
      if (model.drained.has(step.name) === drains) return
      if (drains) model.drained.add(step.name)
      else model.drained.delete(step.name)
      audit(`${step.do}Channel`, step.name)
      return
    }
    case 'put':
    case 'patch': {
      const { id, fields } = step
      const { status, json } = await admin.ask(step.do.toUpperCase(), `/model-settings/${id}`, fields)
      if (id === 'fixed') return expect(status).toBe(409)
      const after = step.do === 'put' ? patched({}, fields) : patched(model.settings.get(id) ?? {}, fields)
      const isSelf = (after['fallbacks'] as readonly string[] | undefined)?.includes(id) === true
      const hasNull = step.do === 'put' && Object.values(fields.price ?? {}).includes(null)
      if (isSelf || hasNull) return expect(status, JSON.stringify(json)).toBe(400)
      expect(status, JSON.stringify(json)).toBe(200)
      expect(json.settings).toEqual(after)
      const isSame = isDeepStrictEqual(model.settings.get(id), after)
      model.settings.set(id, after)
      if (!isSame) audit(step.do === 'put' ? 'putModelSettings' : 'changeModelSettings', id)
      return
    }
    case 'drop': {
      const { status } = await admin.delete(`/model-settings/${step.id}`)
      if (step.id === 'fixed') return expect(status).toBe(409)
      if (!model.settings.has(step.id)) return expect(status).toBe(404)
      expect(status).toBe(204)
      model.settings.delete(step.id)
      audit('deleteModelSettings', step.id)
    }
  }
}

/** Compares the lists of the admin API and the audit log with the model. */
async function compareLists(model: Model, since: string): Promise<void> {
  const channels = (await admin.get('/channels')).json.data
  expect(channels.map(({ name }: { name: string }) => name).sort()).toEqual(['filed', ...model.channels.keys()].sort())
  for (const { name, priority, weight, state, source } of channels) {
    expect({ name, state, source }).toEqual({
      name,
      state: model.drained.has(name) ? 'drained' : 'ok',
      source: name === 'filed' ? 'config' : 'store',
    })
    const known = model.channels.get(name)
    if (known !== undefined) expect({ priority, weight }).toEqual({ priority: known.priority, weight: known.weight })
  }
  const settings = (await admin.get('/model-settings')).json.data
  expect(Object.fromEntries(settings.map((one: { id: string; settings: object }) => [one.id, one.settings]))).toEqual({
    ...Object.fromEntries(model.settings),
    fixed: { input: ['text'], output: ['text'], price: { input: 5 } },
  })
  const audited = (await admin.get(`/audit?limit=200&since=${since}`)).json.data
  expect(audited.map((one: { action: string; target: string }) => `${one.action} ${one.target}`).reverse()).toEqual(
    model.audit,
  )
}

const PRICES = ['input', 'output'] as const

/** Compares what callers of a process see with the model. */
async function compareCalls(model: Model, server: TestServer): Promise<void> {
  const listed = (await server.ask('/v1/models', undefined, { method: 'GET' })).json.data
  expect(listed.map(({ id }: { id: string }) => id).sort()).toEqual(
    MODELS.filter(id => model.targets(id).length > 0).sort(),
  )
  for (const id of MODELS) {
    const usable = model.usable(id)
    const { status, text, json, headers } = await server.ask(CHAT_PATH, { ...ASK, model: id, max_tokens: 5 })
    const shown = `${id} ${status} ${text} ${JSON.stringify([...model.channels])}`
    const { fallbacks = [], price } = (model.settingsOf(id) ?? {}) as {
      readonly fallbacks?: readonly string[]
      readonly price?: { readonly [kind: string]: number }
    }
    if (usable.length > 0) {
      expect(status, shown).toBe(200)
      const isByCost = model.settingsOf(id)?.['order'] === 'cost'
      const best = Math.min(...usable.map(({ priority }) => priority))
      const expected = usable.filter(({ priority }) => priority === best || isByCost)
      expect(
        expected.map(({ at, key }) => `${at} Bearer ${key}`),
        shown,
      ).toContain(json.choices[0].message.content)
      const row = await rowOf(server, headers['x-request-id']!)
      expect(row.model).toBe(id)
      if (price !== undefined && Object.keys(price).length === 2)
        expect(row.cost, shown).toBe(PRICES.reduce((sum, kind) => sum + price[kind]!, 0))
    } else {
      // Fallbacks answer if no channel does.
      const answering = fallbacks.find(fallback => model.usable(fallback).length > 0)
      const refused = model.targets(id).length > 0 ? 503 : 404
      expect(status, shown).toBe(answering === undefined ? refused : 200)
      if (answering !== undefined)
        expect(model.usable(answering).map(({ at, key }) => `${at} Bearer ${key}`)).toContain(
          json.choices[0].message.content,
        )
    }
  }
}

async function rowOf(server: TestServer, id: string) {
  const headers = { authorization: `Bearer ${admin.token}` }
  let answer: Awaited<ReturnType<TestServer['ask']>> | undefined
  await expect
    .poll(
      async () => (answer = await server.ask(`/admin/v1/requests/${id}`, undefined, { method: 'GET', headers })).status,
    )
    .toBe(200)
  return answer!.json
}

async function clear(): Promise<void> {
  for (const name of CHANNELS) {
    await admin.post(`/channels/${name}/resume`)
    await admin.delete(`/channels/${name}`)
  }
  for (const id of MODELS) await admin.delete(`/model-settings/${id}`)
}

test('channels and models are what a model of all changes says', { timeout: 120_000 + 2000 * RUNS }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async steps => {
      await clear()
      const model = new Model()
      const since = new Date().toISOString()
      await new Promise(resolve => setTimeout(resolve, 2))
      for (const one of steps) await run(model, one)
      await compareLists(model, since)
      await compareCalls(model, admin.testServer)
      await expect
        .poll(async () => compareCalls(model, other).then(() => true), { timeout: 5000, interval: 200 })
        .toBe(true)
    }),
    { numRuns: Math.ceil(RUNS / 20) },
  )
})
