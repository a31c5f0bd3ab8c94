import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { ANSWER, ASK, chunk, events, failure, HEAD, json, STREAM } from '../builders/chat.ts'
import { type ChannelFields, channelAt } from '../builders/config.ts'
import { openStoreAt } from '../builders/engines.ts'
import { TestServer } from '../builders/gateway.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { HOUR } from '../builders/units.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'

/* An upstream bills an answer whether or not the caller gets it. */

/** Counts of each answer, and their cost in nanodollars at the prices of both models. */
const [INPUT, OUTPUT] = [1000, 100]
const COST = INPUT * 1000 + OUTPUT * 10_000
const OTHER_COST = 2 * COST

const COUNTS = { prompt_tokens: INPUT, completion_tokens: OUTPUT, total_tokens: INPUT + OUTPUT }
const choice = (message: object, finish = 'stop') => [{ ...ANSWER.choices[0], message, finish_reason: finish }]
const HELLO = { ...ANSWER, usage: COUNTS }
const REFUSED = { ...HELLO, choices: choice({ role: 'assistant', content: null, refusal: 'No.' }) }
const REFUSED_STREAM = `${HEAD}${chunk({ refusal: 'No.' })}${chunk({}, 'stop')}data: ${JSON.stringify({
  ...{ ...ANSWER, object: 'chat.completion.chunk', choices: [], usage: COUNTS },
})}\n\ndata: [DONE]\n\n`
const HELLO_STREAM = `${HEAD}${chunk({ content: 'Hello.' }, 'stop')}data: ${JSON.stringify({
  ...{ ...ANSWER, object: 'chat.completion.chunk', choices: [], usage: COUNTS },
})}\n\ndata: [DONE]\n\n`

const RESPONSE = {
  ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm' },
  output: [
    {
      ...{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant' },
      content: [{ type: 'output_text', text: 'A poem instead of a picture.', annotations: [] }],
    },
  ],
  usage: { input_tokens: INPUT, output_tokens: OUTPUT, total_tokens: INPUT + OUTPUT },
}
const vectors = (count: number) => ({
  ...{ object: 'list', model: 'm', usage: { prompt_tokens: INPUT, total_tokens: INPUT } },
  data: Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding: [0.5, 0.5] })),
})

const whole =
  (body: object): Script =>
  response =>
    json(response, body)
const streaming =
  (text: string): Script =>
  response =>
    events(response).end(text)
const broken: Script = response => json(response, failure('Broken.'), 500)

/** Answers the first request, and fails then. */
function once(body: object): Script {
  let isAnswered = false
  return response => {
    if (isAnswered) return json(response, failure('Broken.'), 400)
    isAnswered = true
    return json(response, body)
  }
}

interface Case {
  readonly title: string
  readonly upstream: Script
  readonly format?: ChannelFields['format']
  /** Upstream of the fallback model. */
  readonly other?: Script
  readonly path?: string
  readonly body: object
  /** Status of the answer, and cost of the request in nanodollars. */
  readonly status: number
  readonly cost: number
}

const CASES: readonly Case[] = [
  {
    title: 'a refusal before the answer of a fallback model',
    ...{ upstream: whole(REFUSED), other: whole(HELLO), body: ASK },
    ...{ status: 200, cost: COST + OTHER_COST },
  },
  {
    title: 'a streamed refusal before the answer of a fallback model',
    ...{ upstream: streaming(REFUSED_STREAM), other: streaming(HELLO_STREAM), body: STREAM },
    ...{ status: 200, cost: COST + OTHER_COST },
  },
  {
    title: 'a refusal that the caller gets because the fallback model fails',
    ...{ upstream: whole(REFUSED), other: broken, body: ASK },
    ...{ status: 200, cost: COST },
  },
  {
    title: 'a streamed refusal that the caller gets because the fallback model fails',
    ...{ upstream: streaming(REFUSED_STREAM), other: broken, body: STREAM },
    ...{ status: 200, cost: COST },
  },
  {
    title: 'a text instead of an image',
    ...{ upstream: whole(RESPONSE), format: 'responses', path: '/v1/images/generations' },
    ...{ body: { model: 'm', prompt: 'Write a poem.' }, status: 502, cost: COST },
  },
  {
    title: 'texts instead of several images',
    ...{ upstream: whole(RESPONSE), format: 'responses', path: '/v1/images/generations' },
    ...{ body: { model: 'm', prompt: 'Write a poem.', n: 3 }, status: 502, cost: 3 * COST },
  },
  {
    title: 'the answer to the first of two prompts before the second one fails',
    ...{ upstream: once(HELLO), path: '/v1/completions' },
    ...{ body: { model: 'm', prompt: ['One', 'Two'] }, status: 400, cost: COST },
  },
  {
    title: 'the answers to both prompts if the caller gets them',
    ...{ upstream: whole(HELLO), path: '/v1/completions' },
    ...{ body: { model: 'm', prompt: ['One', 'Two'] }, status: 200, cost: 2 * COST },
  },
  {
    title: 'vectors of which one is missing',
    ...{ upstream: whole(vectors(1)), format: 'embeddings', path: '/v1/embeddings' },
    ...{ body: { model: 'm', input: ['One', 'Two'] }, status: 502, cost: INPUT * 1000 },
  },
  {
    title: 'a compaction without a summary',
    ...{ upstream: whole({ ...HELLO, choices: choice({ role: 'assistant', content: '' }) }) },
    ...{ path: '/v1/responses/compact', body: { model: 'm', input: 'Hello.' }, status: 502, cost: COST },
  },
]

let folder: string
let upstreams: FakeUpstream[]
let server: TestServer | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'unsent-'))
  upstreams = []
})
afterEach(async () => {
  await server?.server.close(0)
  await Promise.all(upstreams.map(upstream => upstream.close()))
  rmSync(folder, { recursive: true })
})

const only = (model: string) => ({ named: new Map([[model, model]]), patterns: [] })
const { models: MODELS } = readConfig(
  `channels: []
models:
  m: { price: { input: 1, output: 10 }, fallbacks: [{ model: other, on: [refusal] }] }
  other: { price: { input: 2, output: 20 } }`,
  {},
)

async function open(script: Script, other: Script, format: ChannelFields['format'] = 'chat', budget?: number) {
  upstreams = [await FakeUpstream.open(script), await FakeUpstream.open(other)]
  const [first, second] = upstreams as [FakeUpstream, FakeUpstream]
  server = await TestServer.open(
    [
      channelAt(first.address, { name: 'first', format, models: only('m') }),
      channelAt(second.address, { name: 'second', models: only('other') }),
    ],
    {
      ...{ keep: folder, config: { usage: { retention: HOUR }, models: MODELS } },
      ...(budget === undefined ? {} : { group: { budget: { day: budget } } }),
    },
  )
  return server
}

async function rows(): Promise<readonly UsageRow[]> {
  await server!.server.close()
  server = undefined
  const store = await openStoreAt(folder)
  const page = await store.usage.rows({ since: 0, until: Date.now() + HOUR, limit: 10 })
  await store.close()
  return page.rows
}

describe('a request pays once', () => {
  test.each(CASES)('for $title', async ({ upstream, other = broken, format, path = CHAT_PATH, body, status, cost }) => {
    const gateway = await open(upstream, other, format)
    const answer = await gateway.ask(path, body)
    expect(answer.status, answer.text).toBe(status)
    expect(await rows()).toMatchObject([{ status, cost }])
  })
})

test('a budget includes answers that the caller did not get', async () => {
  // The estimate of 1,000 output tokens costs one cent, so that a second request exceeds the budget of 1.05 cents.
  const gateway = await open(whole(RESPONSE), broken, 'responses', 0.0105)
  const ask = () => gateway.ask('/v1/images/generations', { model: 'm', prompt: 'Hi.' })
  const statuses = [(await ask()).status, (await ask()).status]
  expect([statuses, upstreams[0]!.seen.length]).toEqual([[502, 429], 1])
})
