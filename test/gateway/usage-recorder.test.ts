import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { channelAt } from '../builders/config.ts'
import { ON_FILES, openStoreAt, storeAt, written } from '../builders/engines.ts'
import { TestServer } from '../builders/gateway.ts'
import { VERSION_HEADERS } from '../builders/http.ts'
import { createKey, withKeys } from '../builders/keys.ts'
import { until } from '../builders/time.ts'
import { HOUR } from '../builders/units.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { traffic } from '../builders/usage.ts'

const ANSWER = JSON.stringify({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt-4o' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
  usage: {
    prompt_tokens: 1000,
    completion_tokens: 100,
    total_tokens: 1100,
    prompt_tokens_details: { cached_tokens: 400 },
  },
})
/** Cost of the answer in nanodollars. */
const COST = 600 * 2500 + 400 * 1250 + 100 * 10_000
const PROMPT = 'a prompt that nobody stores'
const REQUEST = { model: 'four', messages: [{ role: 'user', content: PROMPT }] }

let folder: string
let upstream: FakeUpstream
let server: TestServer | undefined

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'interlingua-recording-'))
  upstream = await FakeUpstream.open(response => response.setHeader('content-type', 'application/json').end(ANSWER))
})
afterEach(async () => {
  vi.useRealTimers()
  await server?.server.close()
  server = undefined
  await upstream.close()
  rmSync(folder, { recursive: true })
})

const open = (keep: number, responses = { retention: 0, background: 0 }) =>
  TestServer.open(
    [
      channelAt('http://127.0.0.1:9', { name: 'dead', priority: 0, models: MODELS, provider: 'openai' }),
      channelAt(upstream.address, { name: 'alive', priority: 1, models: MODELS, provider: 'openai' }),
    ],
    { keep: folder, config: { usage: { retention: keep }, responses } },
  )
const MODELS = { named: new Map([['four', 'gpt-4o']]), patterns: [] }

async function rows(): Promise<readonly UsageRow[]> {
  const store = await openStoreAt(folder)
  const page = await store.usage.rows({ since: 0, until: Date.now() + HOUR, limit: 10 })
  await store.close()
  return page.rows
}

test('a request is recorded when the gateway stops: what it used and cost, and how long each step took', async () => {
  server = await open(HOUR)
  expect((await server.ask('/v1/chat/completions', REQUEST)).status).toBe(200)
  expect((await server.ask('/v1/chat/completions', { ...REQUEST, model: 'nobodys' })).status).toBe(404)
  expect((await server.ask('/v1/chat/completions', {})).status).toBe(400)
  await server.server.close()
  // Rows of one millisecond have no order.
  const recorded = await rows()
  const [unread, missed, row] = [400, 404, 200].map(status => recorded.find(one => one.status === status))
  expect(unread).toMatchObject({ status: 400, attempts: 0, error: 'invalid-request', cost: 0 })
  expect(missed).toMatchObject({ model: 'nobodys', status: 404, attempts: 0, error: 'not-found', cost: 0 })
  expect(row).toMatchObject({
    ...{ keyName: 'dev', group: 'default', model: 'four', upstreamModel: 'gpt-4o', channel: 'alive', attempts: 2 },
    ...{ door: '/v1/chat/completions', format: 'chat', upstreamFormat: 'chat', status: 200, finish: 'stop' },
    ...{ input: 1000, cacheRead: 400, output: 100, cost: COST, losses: 0 },
    tries: [{ channel: 'dead', upstreamModel: 'gpt-4o' }],
  })
  const steps = [
    row!.readAfter,
    row!.tries![0]!.endedAfter,
    row!.sentAfter,
    row!.answeredAfter,
    row!.firstByteAfter,
    row!.duration,
  ]
  expect(steps).toEqual([...steps].sort((a, b) => a! - b!))
  expect(JSON.stringify([missed, row])).not.toMatch(/nobody stores|upstream-key|caller-key/)
})

test('an absurd number of cached tokens costs nothing: the request has an estimate', async () => {
  const { usage, ...answer } = JSON.parse(ANSWER)
  const absurd = { ...answer, usage: { ...usage, prompt_tokens_details: { cached_tokens: 2 ** 32 - 1 } } }
  upstream.script = response => response.setHeader('content-type', 'application/json').end(JSON.stringify(absurd))
  server = await open(HOUR)
  expect((await server.ask('/v1/chat/completions', REQUEST)).status).toBe(200)
  await server.server.close()
  const [row] = await rows()
  expect(row).toMatchObject({ status: 200, estimated: true })
  expect(row!.cacheRead).toBeUndefined()
  expect(row!.cost).toBeLessThan(COST)
})

test.each([
  {
    provider: 'anthropic',
    calls: { web_search_requests: 5, web_fetch_requests: 3 },
    searched: 5 * 1e7,
    estimated: undefined,
  },
  { provider: 'custom', calls: { web_search_requests: 5, web_fetch_requests: 3 }, searched: 0, estimated: true },
])('searches have their price and fetches have none: $provider', async ({ provider, calls, searched, estimated }) => {
  const answer = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_reason: 'end_turn' },
    content: [{ type: 'text', text: 'Fetched.' }],
    usage: { input_tokens: 1000, output_tokens: 100, server_tool_use: calls },
  }
  upstream.script = response => response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  const models = { named: new Map([['four', 'claude-sonnet-4-5']]), patterns: [] }
  // The custom channel has no listed price of searches: there the tokens are charged, as an estimate.
  const prices = provider === 'custom' ? new Map([['four', { price: { input: 3, output: 15 } }]]) : new Map()
  server = await TestServer.open([channelAt(upstream.address, { format: 'messages', provider, models })], {
    ...{ keep: folder, config: { usage: { retention: HOUR }, models: prices } },
  })
  expect((await server.ask('/v1/messages', { ...REQUEST, max_tokens: 200 }, VERSION_HEADERS)).status).toBe(200)
  await server.server.close()
  const [row] = await rows()
  expect(row).toMatchObject({ cost: 1000 * 3000 + 100 * 15_000 + searched })
  expect(row!.estimated).toBe(estimated)
})

test.each([false, true])('web searches outside of the usage have their price: stream %s', async stream => {
  const search = (id: string) => ({
    ...{ type: 'web_search_call', id, status: 'completed', action: { type: 'search', query: 'news' } },
  })
  const answer = {
    ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'gpt-4o' },
    output: [
      ...[search('ws_1'), search('ws_2')],
      {
        ...{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant' },
        content: [{ type: 'output_text', text: 'News.', annotations: [] }],
      },
    ],
    usage: { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 },
  }
  const events = [
    { type: 'response.created', response: { ...answer, status: 'in_progress', output: [], usage: null } },
    ...answer.output.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', content: [] } },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: answer },
  ]
  upstream.script = response =>
    stream
      ? response
          .setHeader('content-type', 'text/event-stream')
          .end(events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
      : response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  server = await TestServer.open(
    [channelAt(upstream.address, { format: 'responses', provider: 'openai', models: MODELS })],
    { keep: folder, config: { usage: { retention: HOUR } } },
  )
  expect((await server.ask('/v1/responses', { model: 'four', input: PROMPT, stream })).status).toBe(200)
  await server.server.close()
  const [row] = await rows()
  expect(row).toMatchObject({ cost: 1000 * 2500 + 100 * 10_000 + 2 * 10_000_000 })
  expect(row).not.toHaveProperty('estimated')
})

test('a count of tokens costs nothing, whoever counts them', async () => {
  upstream.script = response => response.setHeader('content-type', 'application/json').end('{"input_tokens":1000}')
  const models = (name: string) => ({ named: new Map([[name, 'claude-sonnet-4-5']]), patterns: [] })
  server = await TestServer.open(
    [
      channelAt(upstream.address, { name: 'counts', format: 'messages', provider: 'anthropic', models: models('one') }),
      channelAt(upstream.address, { name: 'does-not', provider: 'openrouter', models: models('other') }),
    ],
    { keep: folder, config: { usage: { retention: HOUR } } },
  )
  for (const model of ['one', 'other']) {
    const counted = await server.ask('/v1/messages/count_tokens', { ...REQUEST, model }, VERSION_HEADERS)
    expect(counted.status, counted.text).toBe(200)
  }
  expect(upstream.seen).toHaveLength(1)
  await server.server.close()
  expect((await rows()).map(({ cost }) => cost)).toEqual([0, 0])
})

test('a request whose usage cannot be known has the cost that its budget was charged', async () => {
  upstream.script = () => {}
  const models = { named: new Map([['four', 'text-embedding-3-small']]), patterns: [] }
  server = await TestServer.open([channelAt(upstream.address, { format: 'embeddings', provider: 'openai', models })], {
    ...{ keep: folder, group: { budget: { day: 1 } }, config: { usage: { retention: HOUR } } },
  })
  const { out, answer } = server.send('/v1/embeddings', { model: 'four', input: 'A text. '.repeat(1000) })
  await until(() => upstream.seen.length === 1)
  out.destroy()
  await answer.catch(() => {})
  await until(() => server!.lines.some(({ message }) => message === 'request'))
  await server.server.close()
  const [row] = await rows()
  expect(row).toMatchObject({ status: 499, estimated: true, output: 0 })
  expect(row!.input).toBeGreaterThan(2000)
  // The estimate is no whole number of tokens, and a token costs 20 nanodollars.
  expect(row!.cost! / 20).toBeLessThanOrEqual(row!.input!)
  expect(row!.cost! / 20).toBeGreaterThan(row!.input! - 1)
})

test('the log names a model without a price that a channel serves, and no name that a caller invented', async () => {
  const models = { named: new Map([['unpriced', 'unpriced']]), patterns: [] }
  server = await TestServer.open([channelAt(upstream.address, { models, provider: 'custom' })], {
    ...{ keep: folder, group: { budget: { day: 1 } }, config: { usage: { retention: HOUR } } },
  })
  for (const model of ['invented', 'unpriced', 'unpriced'])
    await server.ask('/v1/chat/completions', { ...REQUEST, model })
  const warned = server.lines.filter(({ message }) => message.startsWith('the price of the model is unknown'))
  expect(warned.map(({ fields }) => fields)).toMatchObject([{ model: 'unpriced' }])
})

test('the answer of a background response is recorded, even if it begins in the millisecond of its request', async () => {
  const { promise: gate, resolve: release } = Promise.withResolvers<void>()
  upstream.script = response => void gate.then(() => response.setHeader('content-type', 'application/json').end(ANSWER))
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  server = await open(HOUR, { retention: HOUR, background: 1 })
  expect((await server.ask('/v1/responses', { model: 'four', input: PROMPT, background: true })).status).toBe(200)
  await expect.poll(rows, { timeout: 5000 }).toMatchObject([{ cost: 0 }])
  release()
  await until(() => server!.lines.filter(({ message }) => message === 'request').length === 2)
  await server.server.close()
  expect((await rows()).map(({ cost }) => cost)).toEqual(expect.arrayContaining([0, COST]))
})

test('a budget includes what was spent while the store was away, as soon as it is back', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  const place = join(folder, 'place')
  writeFileSync(place, 'no folder')
  server = await TestServer.open([channelAt(upstream.address, { models: MODELS, provider: 'openai' })], {
    ...{ keep: folder, group: { budget: { day: (2.5 * COST) / 1e9 } } },
    config: {
      store: { engine: 'sqlite', path: join(place, 'x.sqlite') },
      ...{ usage: { retention: HOUR }, responses: { retention: 0, background: 0 } },
    },
  })
  for (let number = 0; number < 3; number++)
    expect((await server.ask('/v1/chat/completions', REQUEST)).status).toBe(200)
  await until(() => server!.lines.some(({ message }) => message === 'the store cannot be used'))
  rmSync(place)
  await until(() => server!.lines.some(({ message }) => message === 'the store works again'))
  // The spend is read again a few seconds after it could not be read.
  vi.setSystemTime(Date.now() + 6000)
  expect((await server.ask('/v1/chat/completions', REQUEST)).status).toBe(429)
})

test('a stored key has its budget where no usage is kept', async () => {
  server = await open(0)
  const key = await withKeys(folder, records => createKey(records, 'poor', { limits: { budget: { day: 0.0031 } } }))
  const asked = () => server!.ask('/v1/chat/completions', REQUEST, { headers: { authorization: `Bearer ${key}` } })
  await expect.poll(async () => (await asked()).status).not.toBe(401)
  await expect.poll(async () => (await asked()).status).toBe(429)
  expect((await asked()).json.error).toMatchObject({ code: 'insufficient_quota' })
  await until(() => server!.lines.some(({ fields }) => (fields as { code?: unknown }).code === 'insufficient_quota'))
})

test('nothing is stored where nothing is kept', async () => {
  server = await open(0)
  expect((await server.ask('/v1/chat/completions', REQUEST)).status).toBe(200)
  await server.server.close()
  if (ON_FILES) expect(readdirSync(folder)).toEqual([])
  expect(await rows()).toEqual([])
})

test('the command line sums up what a running gateway recorded', async () => {
  server = await open(HOUR)
  const config = join(folder, 'interlingua.yaml')
  writeFileSync(config, `data_dir: ${folder}\nstore: "${written(storeAt(folder))}"\n`)
  const run = async (...options: string[]) => {
    const said: string[] = []
    const terminal = { out: (text: string) => void said.push(text), fault: (text: string) => void said.push(text) }
    expect(await commandLine(['--config', config, 'usage', ...options], terminal)).toBe(0)
    return said.join('\n')
  }
  expect(await run()).toBe('No requests are recorded for that time.')
  await server.ask('/v1/chat/completions', REQUEST)
  await expect.poll(() => run('--by', 'model')).toMatch(/^MODEL +REQUESTS.*\nfour +1 +0 +1,000 +400 +100 +\$0.0030 /)
  expect(JSON.parse(await run('--by', 'key', '--since', '1h', '--json'))).toMatchObject([
    { key: 'dev', requests: 1, input_tokens: 1000, cost_usd: 0.003, requests_of_unknown_cost: 0 },
  ])
  // Nothing is logged after the last row: a sweep interrupted by closing the store is no fault.
  expect(await run('--by', 'channel', '--csv')).toMatch(/^channel,requests.*\nalive,1,0,1000,400,0,100,0,0,0.003,0,.*$/)
})

test('the command line never shows a tiny cost as none', async () => {
  const config = join(folder, 'interlingua.yaml')
  writeFileSync(config, `data_dir: ${folder}\nstore: "${written(storeAt(folder))}"\n`)
  const store = await openStoreAt(folder)
  const at = Date.now() - 60_000
  const row = { ...[...traffic(1, { since: at, until: at + 1, keys: 1, models: 1, channels: 1 })][0]!, model: 'tiny' }
  await store.usage.add([{ ...row, status: 200, cost: 120 }])
  await store.close()
  const said: string[] = []
  const terminal = { out: (text: string) => void said.push(text), fault: (text: string) => void said.push(text) }
  expect(await commandLine(['--config', config, 'usage', '--by', 'model'], terminal)).toBe(0)
  expect(said.join('\n')).toMatch(/^tiny .* \$0\.00000012 /m)
})

test('a foreign caller without a limit gets what the model answers at most', async () => {
  const channel = channelAt(upstream.address, {
    ...{ format: 'messages', baseUrl: upstream.address, provider: 'zai' },
    models: { named: new Map([['glm', 'glm-4.6']]), patterns: [] },
  })
  server = await TestServer.open([channel])
  await server.ask('/v1/chat/completions', { ...REQUEST, model: 'glm' })
  await server.ask('/v1/chat/completions', { ...REQUEST, model: 'glm', max_tokens: 200_000 })
  expect(upstream.seen.map(({ text }) => JSON.parse(text).max_tokens)).toEqual([128_000, 200_000])
})

test('lists of models tell the limits that the catalogue knows', async () => {
  server = await open(0)
  const list = await server.ask('/v1beta/models', undefined, { method: 'GET' })
  expect(list.json.models).toMatchObject([{ name: 'models/four', inputTokenLimit: 128_000, outputTokenLimit: 16_384 }])
})

test('of a long name of a model, its beginning is recorded', async () => {
  const channel = channelAt(upstream.address, { models: { named: new Map(), patterns: ['*'] } })
  server = await TestServer.open([channel])
  const { status } = await server.ask('/v1/chat/completions', { ...REQUEST, model: 'x'.repeat(20_000) })
  expect(status).toBe(200)
  await until(() => server!.lines.some(({ message }) => message === 'request'))
  const { fields } = server.lines.find(({ message }) => message === 'request')!
  expect(fields).toMatchObject({ model: 'x'.repeat(500), upstream_model: 'x'.repeat(500) })
})
