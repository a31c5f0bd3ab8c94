import { describe, expect, test } from 'vitest'
import type { ModelFacts } from '../../../src/config/index.ts'
import { AdminServer } from '../../builders/admin.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { channelAt } from '../../builders/config.ts'
import { pause } from '../../builders/time.ts'
import { DAY } from '../../builders/units.ts'
import { FakeUpstream, type Script } from '../../builders/upstream.ts'

/* Emulations of several requests, one of which fails. Their upstream bills the others. */

const closing = closingAfterEach()

/** Prices: a thousandth of a dollar per token of the prompt, two thousandths per token of the answer. */
const PRICED: ModelFacts = { id: 'm', input: ['text'], output: ['image'], price: { input: 1000, output: 2000 } }

const IMAGE = {
  candidates: [
    { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }] }, finishReason: 'STOP' },
  ],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 100, totalTokenCount: 110 },
}

/** Answers every request but the last of `count`, which fails after the others. */
const failingLast = (count: number, answer: (text: string) => object): Script => {
  let arrived = 0
  return async (response, { text }) => {
    const isLast = ++arrived % count === 0
    if (isLast) await pause(100)
    response.writeHead(isLast ? 500 : 200, { 'content-type': 'application/json' })
    response.end(isLast ? '{"error":{"code":500,"message":"Broken"}}' : JSON.stringify(answer(text)))
  }
}

async function rowOf(script: Script, fields: Parameters<typeof channelAt>[1], path: string, body: object) {
  const upstream = await FakeUpstream.open(script)
  closing.push(() => upstream.close())
  const admin = await AdminServer.open(
    [channelAt(upstream.address, fields)],
    { usage: { retention: DAY }, models: new Map([['m', PRICED]]) },
    { group: { budget: { day: 100 } } },
  )
  closing.push(() => admin.close())
  const { status } = await admin.testServer.ask(path, body)
  let rows: { readonly [field: string]: unknown }[] = []
  while (rows.length === 0) {
    await pause(20)
    rows = (await admin.get('/requests')).json.data
  }
  const { data } = (await admin.get('/budgets')).json
  return { status, row: rows[0]!, spent: data[0].day.spent as number }
}

describe('answers are charged although another request failed', () => {
  test('of several images', async () => {
    const { status, row, spent } = await rowOf(
      failingLast(3, () => IMAGE),
      { format: 'contents' },
      '/v1/images/generations',
      { model: 'm', prompt: 'A cat', n: 3 },
    )
    expect(status).toBe(502)
    expect(row).toMatchObject({ input_tokens: 20, output_tokens: 200, cost: 0.42 })
    expect(spent).toBeCloseTo(0.42)
  })

  test('of batches of embeddings', async () => {
    const embedded = (text: string) => ({
      object: 'list',
      data: (JSON.parse(text).input as string[]).map((_, index) => ({ object: 'embedding', index, embedding: [1, 2] })),
      usage: { prompt_tokens: 5, total_tokens: 5 },
    })
    const { status, row, spent } = await rowOf(
      failingLast(2, embedded),
      { format: 'embeddings', dialect: { batch: 2 } },
      '/v1/embeddings',
      { model: 'm', input: ['a', 'b', 'c'] },
    )
    expect(status).toBe(502)
    expect(row).toMatchObject({ input_tokens: 5, cost: 0.005 })
    expect(spent).toBeCloseTo(0.005)
  })
})
