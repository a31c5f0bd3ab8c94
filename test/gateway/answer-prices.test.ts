import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { MemoryEngine } from '../../src/accounts/limits/engine.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { hashOf } from '../../src/config/hash.ts'
import { readConfig } from '../../src/config/read.ts'
import type { Budget, ModelFacts } from '../../src/config/types.ts'
import { UsageRecorder } from '../../src/gateway/usage-recorder.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { BILLED_ANSWERS, eventText } from '../builders/billed-answers.ts'
import { type ChannelFields, channelAt, KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { VERSION } from '../builders/http.ts'
import { until } from '../builders/time.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'

/*
 * What an answer costs depends on more than its tokens: the service tier that served it, searches, the length of a
 * recording, and whether it was put together from several answers. Row and budget state the same.
 */

const MODELS = `
channels: []
models:
  m: { price: { input: 3, output: 15, search: 10, tiers: { priority: 2, flex: 0.5, fast: 6, us: 1.1 } } }
  hears: { price: { minute: 0.006 } }
  ranks: { price: { search: 2 } }
  advises: { price: { input: 20, output: 100 } }`
const { models } = readConfig(MODELS, {}) as { readonly models: ReadonlyMap<string, ModelFacts> }

/** Nanodollars that 100 tokens of input and 10 of output cost. */
const COST = 100 * 3000 + 10 * 15_000

let upstream: FakeUpstream
let server: TestServer
let rows: UsageRow[]
let engine: MemoryEngine | undefined

beforeEach(() => {
  rows = []
  vi.spyOn(UsageRecorder.prototype, 'take').mockImplementation(row => void rows.push(row))
  const { step } = MemoryEngine.prototype
  vi.spyOn(MemoryEngine.prototype, 'step').mockImplementation(function (this: MemoryEngine, ...args) {
    engine = this
    return step.apply(this, args)
  })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await server.server.close(0)
  await upstream.close()
})

async function open(
  format: string,
  script: Script,
  budget: Budget = { day: 1e6 },
  more: ChannelFields = {},
): Promise<void> {
  upstream = await FakeUpstream.open(script)
  const named = new Map([...models.keys()].map(name => [name, name]))
  const channel = channelAt(upstream.address, { format, models: { named, patterns: [] }, ...more })
  server = await TestServer.open([channel], { group: { budget }, config: { models } })
}

/** Waits for the next row. Checks that the budget of the key was charged its cost. */
async function nextRow(): Promise<UsageRow> {
  await until(() => rows.length > 0)
  const row = rows.shift()!
  expect(engine!.spent(hashOf(KEY).slice(0, 32), { day: 1, month: undefined })!.day).toBe(row.cost)
  return row
}

/** Facts that an answer of a format states, and the factor on its price. */
const FACTS: readonly (readonly [format: string, facts: JsonObject, factor: number])[] = [
  ['chat', { service_tier: 'priority' }, 2],
  ['chat', { service_tier: 'flex' }, 0.5],
  ['chat', { service_tier: 'default' }, 1],
  ['chat', {}, 1],
  ['responses', { service_tier: 'priority' }, 2],
  ['messages', { service_tier: 'standard' }, 1],
  ['messages', { service_tier: 'priority' }, 2],
  ['messages', { service_tier: 'standard', speed: 'fast' }, 6],
  ['messages', { inference_geo: 'us' }, 1.1],
  ['contents', { serviceTier: 'flex' }, 0.5],
  ['contents', { serviceTier: 'PRIORITY' }, 2],
]

const ENDPOINTS: readonly (readonly [path: string, body: JsonObject])[] = [
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi.' }] }],
  ['/v1/messages', { messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 99 }],
  ['/v1/responses', { input: 'Hi.', store: false }],
]

const answering =
  (format: string, facts: JsonObject, count = Number.POSITIVE_INFINITY): Script =>
  (response, { text, url }) => {
    const isStream = JSON.parse(text).stream === true || url.includes('stream')
    response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
    const answers = BILLED_ANSWERS[format]!
    if (!isStream) return response.end(JSON.stringify(answers.whole(100, 10, facts)))
    const events = answers.stream!(100, 10, facts).map(eventText)
    response.write(events.slice(0, count).join(''))
    return count < events.length || response.end()
  }

describe('an answer costs the price of the tier that it states', () => {
  test.each(FACTS)('%s: %j costs %d of the usual price', async (format, facts, factor) => {
    await open(format, answering(format, facts))
    let total = 0
    for (const [path, body] of ENDPOINTS)
      for (const stream of [false, true]) {
        const { status } = await server.ask(path, { ...body, model: 'm', stream }, { headers: VERSION })
        expect(status).toBe(200)
        await until(() => rows.length > 0)
        const { cost, estimated } = rows.shift()!
        expect([path, stream, cost, estimated]).toEqual([path, stream, Math.round(COST * factor), undefined])
        total += cost!
      }
    expect(engine!.spent(hashOf(KEY).slice(0, 32), { day: 1, month: undefined })!.day).toBe(total)
  })

  test.each([
    ['priority', { service_tier: 'priority' }, 2],
    ['priority', {}, 2],
    ['priority', { service_tier: 'default' }, 1],
  ])('a request for %s that is cancelled after %j costs %d of the usual price', async (tier, facts, factor) => {
    await open('chat', answering('chat', facts, 1))
    const body = { ...ENDPOINTS[0]![1], model: 'm', stream: true, service_tier: tier, max_tokens: 50 }
    const { out, answer } = server.send('/v1/chat/completions', body)
    out.on('error', () => {})
    const head = await answer
    await new Promise(resolve => head.on('error', () => {}).once('data', resolve))
    out.destroy()
    const { cost, input, output, estimated } = await nextRow()
    expect(estimated).toBe(true)
    expect(cost).toBe((input! * 3000 + output! * 15_000) * factor)
  })

  test('a budget reserves the price of the requested tier, at least the usual one', async () => {
    // One request of the usual price fits into the budget.
    await open('chat', answering('chat', {}), { day: 0.0009 })
    const body = { ...ENDPOINTS[0]![1], model: 'm', max_tokens: 50 }
    const statusOf = async (service_tier: string) =>
      (await server.ask('/v1/chat/completions', { ...body, service_tier })).status
    expect([await statusOf('priority'), await statusOf('flex')]).toEqual([429, 200])
  })
})

describe('an answer whose vendor states what it charges costs that much', () => {
  const stating =
    (format: string): Script =>
    (response, request) => {
      const { end, write } = response
      const stated = (text: string) => text.replaceAll('"total_tokens":110', '"total_tokens":110,"cost":0.5')
      response.write = ((text: string) => write.call(response, stated(text), 'utf8')) as typeof write
      response.end = ((text = '') => end.call(response, stated(text), 'utf8')) as typeof end
      return answering(format, format === 'messages' ? { cost: 0.5 } : {})(response, request)
    }

  test.each(['chat', 'responses', 'messages'])('from %s to all callers', async format => {
    await open(format, stating(format), undefined, {
      provider: 'openrouter',
      models: { named: new Map([['vendor/unlisted', 'vendor/unlisted']]), patterns: [] },
    })
    for (const [path, body] of ENDPOINTS)
      for (const stream of [false, true]) {
        await server.ask(path, { ...body, model: 'vendor/unlisted', stream }, { headers: VERSION })
        await until(() => rows.length > 0)
        const { cost, estimated } = rows.shift()!
        expect([path, stream, cost, estimated]).toEqual([path, stream, 5e8, undefined])
      }
    expect(engine!.spent(hashOf(KEY).slice(0, 32), { day: 1, month: undefined })!.day).toBe(6 * 5e8)
  })
})

describe('a text of zero tokens', () => {
  const counting =
    (input: number): Script =>
    (response, { text }) => {
      const isStream = JSON.parse(text).stream === true
      response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
      const { whole, stream } = BILLED_ANSWERS['chat']!
      response.end(isStream ? stream!(input, 0).map(eventText).join('') : JSON.stringify(whole(input, 0)))
    }

  test.each([
    [0, false],
    [0, true],
    [100, false],
    [100, true],
  ])('costs an estimate, with the %d tokens that its prompt has (stream: %s)', async (input, stream) => {
    await open('chat', counting(input))
    await server.ask('/v1/chat/completions', { ...ENDPOINTS[0]![1], model: 'm', stream })
    const row = await nextRow()
    // Two tokens for "Hello".
    expect(row).toMatchObject({ output: 2, estimated: true })
    if (input > 0) expect(row.input).toBe(input)
    else expect(row.input).toBeGreaterThan(0)
    expect(row.cost).toBe(row.input! * 3000 + 2 * 15_000)
  })
})

const FORM = 'X-BOUNDARY'
const transcription = (format: string): string =>
  `${[
    ['name="model"', 'hears'],
    ['name="response_format"', format],
    ['name="file"; filename="a.mp3"\r\ncontent-type: audio/mpeg', 'ID3'],
  ]
    .map(([head, text]) => `--${FORM}\r\ncontent-disposition: form-data; ${head}\r\n\r\n${text}\r\n`)
    .join('')}--${FORM}--\r\n`
const FORM_HEADERS = { 'content-type': `multipart/form-data; boundary=${FORM}` }

describe('an answer that was put together from several', () => {
  // $1.25 and $10 per million tokens, but $2.50 and $15 for a prompt of more than 200,000.
  const LONG = 'gemini-2.5-pro'
  const google = { provider: 'google', models: { named: new Map([[LONG, LONG]]), patterns: [] } }
  const long: Script = response => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(BILLED_ANSWERS['chat']!.whole(150_000, 10)))
  }

  test.each([false, true])('costs the prices of their sizes (stream: %s)', async stream => {
    await open('chat', long, { day: 1e6 }, google)
    const { status } = await server.ask('/v1/completions', { model: LONG, prompt: ['Hi.', 'Ho.'], stream })
    expect(status).toBe(200)
    expect(await nextRow()).toMatchObject({ cost: 2 * (150_000 * 1250 + 10 * 10_000), input: 300_000 })
  })
})

describe('an answer of Claude', () => {
  const counts = { input_tokens: 1000, output_tokens: 50, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
  const own = { type: 'message', ...counts, input_tokens: 100, output_tokens: 10 }
  const written = { cache_creation_input_tokens: 200, cache_creation: { ephemeral_1h_input_tokens: 200 } }
  test.each<[string, JsonObject, tokens: number, cost: number]>([
    ['a compaction', { type: 'compaction', ...counts }, 1000, 1000 * 3000 + 50 * 15_000],
    // Writes for an hour cost twice the input.
    ['its cache writes', { type: 'compaction', ...counts, ...written }, 1200, 1400 * 3000 + 50 * 15_000],
    ['advice', { type: 'advisor_message', model: 'advises', ...counts }, 1000, 1000 * 20_000 + 50 * 100_000],
    ['nothing twice', { type: 'message', ...counts }, 0, 0],
    ['no absurd count', { type: 'compaction', ...counts, input_tokens: 4e9 }, 0, 0],
    ['no wrong type', { type: 'compaction', input_tokens: '9', output_tokens: -1 }, 0, 0],
  ])('includes %s that its counts leave out: %j', async (_, iteration, tokens, cost) => {
    await open('messages', answering('messages', { iterations: [iteration, own] }))
    let total = 0
    for (const [path, body] of ENDPOINTS)
      for (const stream of [false, true]) {
        await server.ask(path, { ...body, model: 'm', stream }, { headers: VERSION })
        await until(() => rows.length > 0)
        const row = rows.shift()!
        expect([path, stream, row.cost, row.input]).toEqual([path, stream, COST + cost, 100 + tokens])
        total += row.cost!
      }
    expect(engine!.spent(hashOf(KEY).slice(0, 32), { day: 1, month: undefined })!.day).toBe(total)
  })
})

test.each([
  // $2.50 and $10 per million tokens.
  ['gpt-4o-2024-08-06', 100 * 2500 + 10 * 10_000],
  ['my-model', undefined],
])('an answer of a deployment costs the price of the model that it names: %s', async (named, cost) => {
  const models = { named: new Map([['deployed', 'my-deployment']]), patterns: [] }
  await open('chat', answering('chat', { model: named }), undefined, { provider: 'azure-deployments', models })
  for (const [path, body] of ENDPOINTS)
    for (const stream of [false, true]) {
      await server.ask(path, { ...body, model: 'deployed', stream }, { headers: VERSION })
      await until(() => rows.length > 0)
      expect([path, stream, rows.shift()!.cost]).toEqual([path, stream, cost])
    }
})

describe('an answer of another model that the request allows', () => {
  const OTHER = 100 * 20_000 + 10 * 100_000
  const callers = [
    ['messages', '/v1/messages', { max_tokens: 99, fallbacks: [{ model: 'advises' }] }],
    ['chat', '/v1/chat/completions', { models: ['advises', 'm'] }],
  ] as const
  test.each(
    callers.flatMap(([format, path, more]) => [
      [format, path, more, 'upstream-advises', OTHER] as const,
      [format, path, more, 'upstream-advises-2026-11-30', OTHER] as const,
      [format, path, more, 'upstream-m', COST] as const,
      [format, path, more, 'unheard-of', COST] as const,
      [format, path, {}, 'upstream-advises', COST] as const,
    ]),
  )('%s: at %s with %j, the price of %s is %d', async (format, path, more, answering, cost) => {
    const { whole, stream } = BILLED_ANSWERS[format]!
    const named = (text: string): string => text.replaceAll('"model":"up"', `"model":"${answering}"`)
    const names = {
      named: new Map([
        ['m', 'upstream-m'],
        ['advises', 'upstream-advises'],
      ]),
      patterns: [],
    } as const
    const script: Script = (response, { text }) => {
      const isStream = JSON.parse(text).stream === true
      response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
      response.end(named(isStream ? stream!(100, 10).map(eventText).join('') : JSON.stringify(whole(100, 10))))
    }
    await open(format, script, undefined, { models: names })
    const body = { model: 'm', max_tokens: 99, messages: [{ role: 'user', content: 'Hi.' }], ...more }
    for (const stream of [false, true]) {
      expect((await server.ask(path, { ...body, stream }, { headers: VERSION })).status).toBe(200)
      await until(() => rows.length > 0)
      expect([stream, rows.shift()!.cost]).toEqual([stream, cost])
    }
  })
})

test('an answer of Cohere costs the tokens that Cohere bills', async () => {
  await open('cohere-chat', answering('cohere-chat', {}))
  const body = { messages: [{ role: 'user', content: 'Hi.' }] }
  let total = 0
  for (const [path, sent] of [...ENDPOINTS, ['/v2/chat', body] as const])
    for (const stream of [false, true]) {
      expect((await server.ask(path, { ...sent, model: 'm', stream }, { headers: VERSION })).status).toBe(200)
      await until(() => rows.length > 0)
      const row = rows.shift()!
      expect([path, stream, row.cost, row.input, row.output]).toEqual([path, stream, COST, 1500, 12])
      total += row.cost!
    }
  expect(engine!.spent(hashOf(KEY).slice(0, 32), { day: 1, month: undefined })!.day).toBe(total)
})

test.each([false, true])('pages that a search opens cost nothing (stream: %s)', async stream => {
  const call = (id: string, action: JsonObject) => ({ id, type: 'web_search_call', status: 'completed', action })
  const calls = [
    call('ws_1', { type: 'search', query: 'a', queries: ['a', 'b'] }),
    call('ws_2', { type: 'open_page', url: 'https://a.example' }),
    call('ws_3', { type: 'find_in_page', url: 'https://a.example', pattern: 'b' }),
  ]
  const streamed = calls.flatMap(({ action: _, ...begun }, index) => [
    { type: 'response.output_item.added', output_index: 5 + index, item: { ...begun, status: 'in_progress' } },
    { type: 'response.output_item.done', output_index: 5 + index, item: calls[index]! },
  ])
  const { whole, stream: events } = BILLED_ANSWERS['responses']!
  const [created, ...others] = events!(100, 10)
  const answer = whole(100, 10) as { readonly output: readonly JsonObject[] }
  await open('responses', response => {
    response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json')
    response.end(
      stream
        ? [created!, ...streamed, ...others].map(eventText).join('')
        : JSON.stringify({ ...answer, output: [...calls, ...answer.output] }),
    )
  })
  await server.ask('/v1/responses', { ...ENDPOINTS[2]![1], model: 'm', stream })
  expect((await nextRow()).cost).toBe(COST + 10_000_000)
})

describe('what is billed by something else than tokens', () => {
  test.each<[string, JsonObject]>([
    ['json', { text: 'Hi', usage: { type: 'duration', seconds: 30 } }],
    // Mistral's answer.
    ['json', { text: 'Hi', usage: { prompt_audio_seconds: 30, prompt_tokens: 4, completion_tokens: 5 } }],
    ['verbose_json', { task: 'transcribe', text: 'Hi', duration: 30, language: 'english', segments: [] }],
  ])('a transcript as %s costs its seconds', async (format, answer) => {
    await open(
      'transcriptions',
      response => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(answer))
      },
      { day: 1e6, unknown: 'refuse' },
    )
    const { status } = await server.ask('/v1/audio/transcriptions', transcription(format), { headers: FORM_HEADERS })
    expect(status).toBe(200)
    const { cost, estimated } = await nextRow()
    expect([cost, estimated]).toEqual([3_000_000, undefined])
  })

  test('a ranking costs its searches', async () => {
    await open(
      'rerank',
      response => {
        response.setHeader('content-type', 'application/json')
        const results = [{ index: 0, relevance_score: 0.5 }]
        response.end(JSON.stringify({ id: 'r', results, meta: { billed_units: { search_units: 3 } } }))
      },
      { day: 1e6, unknown: 'refuse' },
    )
    const body = { model: 'ranks', query: 'Hi.', documents: ['Hi.'] }
    expect((await server.ask('/v2/rerank', body)).status).toBe(200)
    expect((await nextRow()).cost).toBe(3 * 2_000_000)
  })
})
