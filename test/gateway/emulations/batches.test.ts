import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { PRESETS } from '../../../src/formats/index.ts'
import { channelAt } from '../../builders/config.ts'
import { opener } from '../../builders/opener.ts'
import { until } from '../../builders/time.ts'
import type { Script } from '../../builders/upstream.ts'
import { embedding, heard, tokensOf, vectorOf } from '../../embedding/upstreams.ts'

const { openGateway, openUpstream } = opener()

interface Row {
  readonly format: string
  readonly dialect: JsonObject
  readonly script?: Script
}

/** Starts a gateway with one channel per row, tried in order. */
async function open(...rows: readonly Row[]) {
  const upstreams = await Promise.all(rows.map(({ format, script }) => openUpstream(script ?? embedding(format))))
  const channels = rows.map(({ format, dialect }, priority) => {
    const baseUrl = `${upstreams[priority]!.address}/v1`
    const formats = [{ format, baseUrl, auth: 'bearer' as const, headers: {}, query: {}, dialect }]
    return channelAt('', { name: `channel-${priority}`, priority, formats })
  })
  const testServer = await openGateway(channels)
  return { testServer, upstreams, upstream: upstreams[0]! }
}

const TEXTS = Array.from({ length: 23 }, (_, index) => `This is text ${index}`)
const DOOR = '/v1/embeddings'
const ASK = { model: 'm', input: TEXTS }
const BATCH = '/v1beta/models/m:batchEmbedContents'

/** Answers the first request last, so that answers arrive in another order than the texts. */
const tardy =
  (format: string): Script =>
  async (response, seen) => {
    await sleep(heard(format, seen).texts.includes(TEXTS[0]!) ? 80 : 5)
    embedding(format)(response, seen)
  }

describe('more to embed than an upstream takes at once', () => {
  test.each(['embeddings', 'contents'])('goes to %s in pieces, and comes back whole and in order', async format => {
    const { testServer, upstream } = await open({ format, dialect: { batch: 5 }, script: tardy(format) })
    const { status, json } = await testServer.ask(DOOR, ASK)
    expect(status).toBe(200)
    expect(json.data.map((one: { embedding: number[] }) => one.embedding)).toEqual(TEXTS.map(vectorOf))
    expect(json.data.map((one: { index: number }) => one.index)).toEqual([...TEXTS.keys()])
    expect(json.usage).toEqual({ prompt_tokens: tokensOf(TEXTS), total_tokens: tokensOf(TEXTS) })
    expect(upstream.seen.map(seen => heard(format, seen).texts.length).sort()).toEqual([3, 5, 5, 5, 5])
    expect(testServer.lines.at(-1)).toMatchObject({
      fields: { status: 200, attempts: 1, input_tokens: tokensOf(TEXTS) },
    })
  })

  test('goes to Alibaba Cloud in pieces of ten', async () => {
    const { dialect = {} } = PRESETS.get('dashscope')!.formats.find(({ format }) => format === 'embeddings')!
    const { testServer, upstream } = await open({ format: 'embeddings', dialect })
    const { json } = await testServer.ask(DOOR, ASK)
    expect(json.data.map((one: { embedding: number[] }) => one.embedding)).toEqual(TEXTS.map(vectorOf))
    expect(upstream.seen.map(seen => heard('embeddings', seen).texts.length).sort()).toEqual([10, 10, 3])
  })

  test('goes in pieces of the tokens that the upstream takes at once, and an input above them alone', async () => {
    const inputs = ['a'.repeat(8), 'b'.repeat(12), 'c'.repeat(90), 'd'.repeat(20), [1, 2, 3]]
    const { testServer, upstream } = await open({
      format: 'embeddings',
      dialect: { batch: 3, batch_tokens: 10 },
      script: embedding('embeddings'),
    })
    const { json } = await testServer.ask(DOOR, { model: 'm', input: inputs })
    expect(json.data.map((one: { embedding: number[] }) => one.embedding)).toEqual(
      inputs.map(input => vectorOf(String(input))),
    )
    const sent = upstream.seen.map(({ text }) => JSON.parse(text).input)
    expect(sent).toEqual(expect.arrayContaining([inputs.slice(0, 2), [inputs[2]], [inputs[3]], [inputs[4]]]))
  })

  test.each([
    ['openai', 2048, 300_000],
    ['mistral', 512, 16_000],
    ['voyage', 1000, 120_000],
  ])('%s gets at most %i inputs and %i tokens', (vendor, batch, batch_tokens) => {
    const format = PRESETS.get(vendor)!.formats.find(one => one.format === 'embeddings')
    expect(format?.dialect).toMatchObject({ batch, batch_tokens })
  })

  test('of a caller of contents, each thing with its own settings', async () => {
    const { testServer, upstream } = await open({ format: 'contents', dialect: { batch: 2 } })
    const requests = TEXTS.slice(0, 3).map((text, index) => ({
      model: 'models/m',
      content: { parts: [{ text }] },
      taskType: index === 1 ? 'CLUSTERING' : 'RETRIEVAL_QUERY',
    }))
    const { json } = await testServer.ask(BATCH, { requests })
    expect(json.embeddings).toEqual(TEXTS.slice(0, 3).map(text => ({ values: vectorOf(text) })))
    expect(json.usageMetadata).toEqual({ promptTokenCount: tokensOf(TEXTS.slice(0, 3)) })
    const sent = upstream.seen.flatMap(({ text }) => JSON.parse(text).requests)
    expect(sent).toEqual(expect.arrayContaining(requests))
  })

  test('goes one by one to a cloud without batches', async () => {
    const { testServer, upstream } = await open({ format: 'contents', dialect: { vertex: true } })
    const { json } = await testServer.ask(DOOR, { ...ASK, input: TEXTS.slice(0, 3), dimensions: 4 })
    expect(json.data.map((one: { embedding: number[] }) => one.embedding)).toEqual(TEXTS.slice(0, 3).map(vectorOf))
    expect(upstream.seen.map(({ url }) => url.split(':').at(-1))).toEqual(Array(3).fill('embedContent'))
    expect(JSON.parse(upstream.seen[0]!.text).embedContentConfig).toEqual({ outputDimensionality: 4 })
  })

  test('is never more than a few requests at once', async () => {
    let open_ = 0
    let most = 0
    const { testServer } = await open({
      format: 'embeddings',
      dialect: { batch: 1 },
      script: async (response, seen) => {
        most = Math.max(most, ++open_)
        await sleep(5)
        open_--
        embedding('embeddings')(response, seen)
      },
    })
    expect((await testServer.ask(DOOR, ASK)).status).toBe(200)
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(4)
  })

  test('says what was lost at its place in the whole', async () => {
    const { testServer } = await open({ format: 'embeddings', dialect: { batch: 2 } })
    const requests = TEXTS.slice(0, 5).map((text, index) => ({
      content: { parts: [{ text }] },
      ...(index === 3 ? { title: 'T' } : {}),
      taskType: 'CLUSTERING',
    }))
    const { headers } = await testServer.ask(BATCH, { requests })
    expect(headers['interlingua-loss']).toBe('requests no-purpose; requests/3/title only-in-contents')
  })

  test('stays together where it is read as one text', async () => {
    const { testServer, upstream } = await open({ format: 'embeddings', dialect: { batch: 5 } })
    await testServer.ask(DOOR, { ...ASK, late_chunking: true })
    expect(upstream.seen).toHaveLength(1)
  })
})

describe('a piece that fails', () => {
  const failing: Script = (response, seen) => {
    if (!heard('embeddings', seen).texts.includes(TEXTS[7]!))
      return setTimeout(() => embedding('embeddings')(response, seen), 500)
    return response.writeHead(429, { 'retry-after': '7' }).end(JSON.stringify({ error: { message: 'Too much.' } }))
  }

  test('fails all, and breaks the others off', async () => {
    const { testServer, upstream } = await open({ format: 'embeddings', dialect: { batch: 5 }, script: failing })
    const { status, headers, json } = await testServer.ask(DOOR, ASK)
    expect([status, headers['retry-after'], json.error.message]).toEqual([429, '7', 'Too much.'])
    await until(() => upstream.seen.filter(({ brokenAt }) => brokenAt !== undefined).length === 3)
    expect(upstream.seen).toHaveLength(4)
  })

  test('has all of it tried elsewhere', async () => {
    const { testServer, upstreams } = await open(
      { format: 'embeddings', dialect: { batch: 5 }, script: failing },
      { format: 'contents', dialect: {} },
    )
    const { status, json } = await testServer.ask(DOOR, ASK)
    expect(status).toBe(200)
    expect(json.data).toHaveLength(TEXTS.length)
    expect(upstreams[1]!.seen).toHaveLength(1)
  })

  test('is one that answers fewer vectors than it was asked for', async () => {
    const short: Script = response =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }] }))
    const { testServer } = await open({ format: 'embeddings', dialect: { batch: 5 }, script: short })
    expect((await testServer.ask(DOOR, ASK)).status).toBe(502)
  })
})

test('a caller who leaves takes every piece along', async () => {
  const { testServer, upstream } = await open({ format: 'embeddings', dialect: { batch: 5 }, script: () => {} })
  const { out } = testServer.send(DOOR, ASK)
  await until(() => upstream.seen.length === 4)
  out.destroy()
  await until(() => upstream.seen.every(({ brokenAt }) => brokenAt !== undefined))
  await until(() => testServer.lines.some(({ fields }) => fields['status'] === 499))
  expect(upstream.seen).toHaveLength(4)
})
