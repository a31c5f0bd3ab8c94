import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MemoryEngine } from '../../src/accounts/limits/engine.ts'
import { freshSecret } from '../../src/accounts/secret.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { hashOf } from '../../src/config/hash.ts'
import { readConfig } from '../../src/config/read.ts'
import type { Store } from '../../src/store/store.ts'
import { BILLED_ANSWERS, eventText } from '../builders/billed-answers.ts'
import { channelAt, KEY } from '../builders/config.ts'
import { openStoreAt } from '../builders/engines.ts'
import { TestServer } from '../builders/gateway.ts'
import { GET, textOf, VERSION } from '../builders/http.ts'
import { TIMED, until } from '../builders/time.ts'
import { HOUR } from '../builders/units.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'

/*
 * Whatever the endpoint and however a request ends, its usage row, the budget of its key, the sums and the metrics state
 * the same cost. It is what the upstream billed, unless the upstream never finished its answer.
 */

/** Prices in nanodollars per token. */
const [INPUT_PRICE, OUTPUT_PRICE] = [3000, 15_000]
const PRICES = 'price: { input: 3, output: 15 }'

/** How the upstream answers: completely, without its last event or end, never, or only the second request. */
const ENDINGS = ['whole', 'cut', 'left', 'left-silent', 'failed', 'garbled', 'retried'] as const
type Ending = (typeof ENDINGS)[number]
const FINISHED: ReadonlySet<Ending> = new Set<Ending>(['whole', 'failed', 'retried'])

const asked = [{ role: 'user', content: 'Hi.' }]

/** Endpoints with a request to each. Those of conversations stream if they are told to. */
const ENDPOINTS: readonly (readonly [path: string, body: JsonObject, streams: boolean])[] = [
  ['/v1/chat/completions', { messages: asked }, true],
  ['/v1/messages', { messages: asked, max_tokens: 99 }, true],
  ['/v1/responses', { input: 'Hi.' }, true],
  ['/v1/responses', { input: 'Hi.', background: true }, false],
  ['/v1/completions', { prompt: 'Hi.' }, true],
  ['/v1/completions', { prompt: ['Hi.', 'Ho.'] }, false],
  ['/v2/chat', { messages: asked }, true],
  ['/v1/responses/compact', { input: 'Hi.' }, false],
  ['/v1/images/generations', { prompt: 'Hi.' }, false],
  ['/v1/messages/count_tokens', { messages: asked }, false],
  ['/v1/embeddings', { input: ['Hi.', 'Ho.'] }, false],
  ['/v2/rerank', { query: 'Hi.', documents: ['Hi.', 'Ho.'] }, false],
]

let folder: string
let store: Store
let upstream: FakeUpstream
let server: TestServer
/** Nanodollars that the upstream billed, and how it answers. */
let billed = 0
let ending: Ending = 'whole'
let requests = 0
let metricsKey: string

const answering: Script = (response, { url, text }) => {
  requests++
  const format = /completions|messages|responses|embeddings/.exec(url.replace('chat/completions', 'chat'))?.[0]
  const wire = BILLED_ANSWERS[format === undefined || format === 'completions' ? 'chat' : format]!
  const isUnknown = /count_tokens|input_tokens|compact/.test(url)
  const [input, output] = [100 + 7 * requests, format === 'embeddings' ? 0 : 10 + 3 * requests]
  const isStreamed = JSON.parse(text).stream === true && wire.stream !== undefined
  const isFailing = ending === 'failed' || (ending === 'retried' && requests % 2 === 1) || isUnknown
  if (ending === 'left-silent') return
  response.setHeader('content-type', isStreamed && !isFailing ? 'text/event-stream' : 'application/json')
  if (isFailing) return response.writeHead(isUnknown ? 404 : 500).end('{"error":{"message":"No."}}')
  const pieces = isStreamed
    ? wire.stream!(input, output).map(eventText)
    : [JSON.stringify(wire.whole(input, output)).slice(0, -1), '}']
  if (ending === 'garbled') return response.end(pieces[0]!.slice(0, 20))
  for (const piece of pieces.slice(0, -1)) response.write(piece)
  if (ending === 'left') return
  if (ending === 'cut') return setImmediate(() => response.destroy())
  billed += input * INPUT_PRICE + output * OUTPUT_PRICE
  return response.end(pieces.at(-1))
}

const FORMATS = ['chat', 'messages', 'responses', 'embeddings'] as const

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'accounting-'))
  store = await openStoreAt(folder)
  upstream = await FakeUpstream.open(answering)
  metricsKey = freshSecret('il', Date.now()).text
  const { models } = readConfig(
    `channels: []\nmodels:\n${FORMATS.map(format => `  ${format}-model: { ${PRICES} }`).join('\n')}`,
    {},
  )
  // Failed models rest, but are tried nevertheless.
  const channels = FORMATS.flatMap(format =>
    [0, 1].map(priority =>
      channelAt(upstream.address, {
        ...{ name: `${format}-${priority}`, format, priority },
        models: { named: new Map([[`${format}-model`, 'up']]), patterns: [] },
      }),
    ),
  )
  server = await TestServer.open(channels, {
    ...{ keep: folder, group: { budget: { day: 1e6, month: 1e6 }, tpm: 1e9, concurrent: 2 } },
    config: { models, usage: { retention: HOUR }, metrics: { keyHash: hashOf(metricsKey) } },
  })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await server.server.close(0)
  await store.close()
  await upstream.close()
  rmSync(folder, { recursive: true })
})

const logged = () => server.lines.filter(({ message }) => message === 'request').map(({ fields }) => fields)

/** Sends a request, leaves it if the ending says so, and waits until all that it causes is logged. */
async function use(path: string, body: JsonObject): Promise<void> {
  const [lines, before] = [logged().length, requests]
  const { out, answer } = server.send(path, body, { headers: VERSION })
  out.on('error', () => {})
  if (ending.startsWith('left') && body['background'] !== true) {
    await until(() => requests > before || logged().length > lines)
    const head = ending === 'left' && body['stream'] === true ? await answer.catch(() => undefined) : undefined
    head?.on('error', () => {}).resume()
    out.destroy()
    await answer.catch(() => {})
  } else {
    const head = await answer
    await textOf(head)
    if (body['background'] === true && head.statusCode === 200) {
      await until(() => logged().length === lines + 2)
      return
    }
  }
  await until(() => logged().length > lines)
}

test.each(ENDINGS)('rows, budget, sums, metrics and upstream agree if answers are %s', TIMED, async how => {
  const steps = vi.spyOn(MemoryEngine.prototype, 'step')
  ;[ending, billed] = [how, 0]
  for (const [path, body, streams] of ENDPOINTS)
    for (const format of FORMATS)
      for (const stream of streams ? [false, true] : [false]) {
        if (body['background'] === true && how.startsWith('left')) continue
        requests = 0
        await use(path, { ...body, model: `${format}-model`, ...(stream ? { stream } : {}) })
      }
  const engine = steps.mock.contexts.at(-1) as MemoryEngine
  const key = hashOf(KEY).slice(0, 32)
  const spent = engine.spent(key, { day: 1, month: 1 })!
  const page = await server.ask('/metrics', undefined, { ...GET, headers: { authorization: `Bearer ${metricsKey}` } })
  const metrics = [...page.text.matchAll(/^interlingua_cost_dollars_total\{.*\} (\S+)$/gm)]
  await server.server.close(0)
  const period = { since: 0, until: Date.now() + HOUR }
  const [sum] = await store.usage.sums({ ...period, by: [], limit: 1 })
  const { rows } = await store.usage.rows({ ...period, limit: 1000 })
  const cost = rows.reduce((total, row) => total + row.cost!, 0)
  expect(rows.length).toBe(logged().length)
  expect({
    ...{ day: spent.day, month: spent.month, sum: sum!.cost },
    metrics: Math.round(metrics.reduce((total, [, dollars]) => total + Number(dollars) * 1e9, 0)),
    stored: (await store.usage.spent(key, Date.now())).month,
  }).toEqual({ day: cost, month: cost, sum: cost, metrics: cost, stored: cost })
  if (FINISHED.has(how)) expect(cost).toBe(billed)
  expect(cost > 0).toBe(how !== 'failed' && how !== 'garbled')
})
