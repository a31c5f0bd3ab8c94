import { describe, expect, test } from 'vitest'
import { type JsonObject, parseObject } from '../../../src/canonical/node.ts'
import { channelAt } from '../../builders/config.ts'
import { opener } from '../../builders/opener.ts'
import type { Script, Seen } from '../../builders/upstream.ts'
import { embedding, heard, tokensOf, vectorOf } from '../../embedding/upstreams.ts'

/* Google Cloud's models that refuse `:embedContent`, before a server that refuses it as well. */

const { openGateway, openUpstream } = opener()

// biome-ignore lint/suspicious/noExplicitAny: its shape is what the tests are about
type Loose = any

const instancesOf = ({ text }: Seen): Loose[] => (parseObject(text) as Loose).instances

const cloud: Script = (response, seen) => {
  const [, method] = seen.url.split(':')
  const answer = (status: number, body: JsonObject) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (method !== 'predict') {
    const message = 'Publisher Model is not supported in the embedContent API.'
    return answer(400, { error: { code: 400, message, status: 'INVALID_ARGUMENT' } })
  }
  const predictions = instancesOf(seen).map(({ content }) => ({
    embeddings: {
      values: vectorOf(content),
      statistics: { truncated: content === 'cut', token_count: tokensOf([content]) },
    },
  }))
  return answer(200, { predictions, metadata: { billableCharacterCount: 20 } })
}

async function open(model: string, dialect: JsonObject = { vertex: true }) {
  const upstream = await openUpstream(cloud)
  const formats = [
    { format: 'contents', baseUrl: upstream.address, auth: 'bearer' as const, headers: {}, query: {}, dialect },
  ]
  const testServer = await openGateway([
    channelAt('', { formats, models: { named: new Map([['m', model]]), patterns: [] } }),
  ])
  return { testServer, upstream }
}

const MODELS = ['text-embedding-005', 'text-multilingual-embedding-002', 'gemini-embedding-001', 'text-embedding-004']

describe.each(MODELS)('vectors of %s', model => {
  test('for a caller of OpenAI’s format', async () => {
    const { testServer, upstream } = await open(model)
    const input = ['a text', 'another text']
    const { status, json, headers } = await testServer.ask('/v1/embeddings', { model: 'm', input, dimensions: 256 })
    expect(status).toBe(200)
    expect(json.data.map((one: Loose) => one.embedding)).toEqual(input.map(vectorOf))
    expect(json.usage).toEqual({ prompt_tokens: 4, total_tokens: 4 })
    expect(headers['interlingua-loss']).toBeUndefined()
    expect(upstream.seen.map(({ url }) => url)).toEqual(Array(2).fill(`/models/${model}:predict`))
    expect(upstream.seen.map(({ text }) => JSON.parse(text))).toEqual(
      input.map(content => ({ instances: [{ content }], parameters: { outputDimensionality: 256 } })),
    )
  })

  test('for a caller of Gemini’s format, each with its own settings', async () => {
    const { testServer, upstream } = await open(model)
    const requests = [
      { content: { parts: [{ text: 'a text' }] }, taskType: 'RETRIEVAL_DOCUMENT', title: 'T' },
      { content: { parts: [{ text: 'a query' }] }, taskType: 'RETRIEVAL_QUERY', outputDimensionality: 4 },
    ]
    const { status, json } = await testServer.ask('/v1beta/models/m:batchEmbedContents', { requests })
    expect(status).toBe(200)
    expect(json.embeddings).toEqual(['a text', 'a query'].map(text => ({ values: vectorOf(text) })))
    expect(json.usageMetadata).toEqual({ promptTokenCount: 4 })
    expect(upstream.seen.map(({ text }) => JSON.parse(text))).toEqual([
      { instances: [{ content: 'a text', task_type: 'RETRIEVAL_DOCUMENT', title: 'T' }], parameters: {} },
      { instances: [{ content: 'a query', task_type: 'RETRIEVAL_QUERY' }], parameters: { outputDimensionality: 4 } },
    ])
    const one = await testServer.ask('/v1beta/models/m:embedContent', requests[1])
    expect(one.json.embedding.values).toEqual(vectorOf('a query'))
  })
})

test('several texts of an input are one, unknown settings are losses, and images are refused', async () => {
  const { testServer, upstream } = await open('text-embedding-005')
  const texts = [{ text: 'one' }, { text: 'two' }]
  const { headers } = await testServer.ask('/v1beta/models/m:embedContent', {
    content: { parts: texts },
    embedContentConfig: { autoTruncate: false, title: 'T', documentOcr: true },
  })
  expect(instancesOf(upstream.seen[0]!)).toEqual([{ content: 'one\ntwo', title: 'T' }])
  for (const lost of ['one-text-each', 'no-equivalent-field']) expect(headers['interlingua-loss']).toContain(lost)
  const inlineData = { mimeType: 'image/png', data: 'iVBORw0KGgo=' }
  const content = { parts: [...texts, { inlineData }] }
  expect((await testServer.ask('/v1beta/models/m:embedContent', { content })).status).toBe(422)
})

describe('callers of `:predict`', () => {
  const PATH = '/v1beta1/projects/p/locations/l/publishers/google/models/m:predict'
  const BODY = {
    instances: [{ content: 'a text', task_type: 'RETRIEVAL_DOCUMENT', title: 'T' }, { content: 'another text' }],
    parameters: { outputDimensionality: 4, autoTruncate: false },
  }
  const PREDICTIONS = [
    { embeddings: { values: vectorOf('a text'), statistics: { token_count: 4, truncated: false } } },
    { embeddings: { values: vectorOf('another text'), statistics: { token_count: 0, truncated: false } } },
  ]

  test('reach a model that predicts', async () => {
    const { testServer, upstream } = await open('text-embedding-005')
    expect((await testServer.ask(PATH, BODY)).json).toEqual({ predictions: PREDICTIONS })
    const parameters = { outputDimensionality: 4, autoTruncate: false }
    expect(upstream.seen.map(({ text }) => JSON.parse(text))).toEqual([
      { instances: [BODY.instances[0]], parameters },
      { instances: [BODY.instances[1]], parameters },
    ])
  })

  test.each(['embeddings', 'contents', 'cohere'])('reach an upstream of %s', async format => {
    const upstream = await openUpstream(embedding(format))
    const testServer = await openGateway([channelAt(upstream.address, { format })])
    const { status, json } = await testServer.ask(PATH, BODY)
    expect([status, json]).toEqual([200, { predictions: PREDICTIONS }])
    expect(heard(format, upstream.seen[0]!)).toMatchObject({ texts: ['a text', 'another text'] })
  })

  test.each([
    ['no inputs', { instances: [] }],
    ['an image to draw', { instances: [{ prompt: 'a cat' }] }],
  ])('%s are refused', async (_, body) => {
    const { testServer } = await open('text-embedding-005')
    expect((await testServer.ask(PATH, body)).status).toBe(400)
  })
})

test('the answer says that a text was cut', async () => {
  const { testServer } = await open('text-embedding-005')
  const { json } = await testServer.ask('/v1beta/models/m:embedContent', { content: { parts: [{ text: 'cut' }] } })
  expect(json.embedding.statistics).toEqual({ truncated: true })
})

test.each([
  ['gemini-embedding-2', { vertex: true }],
  ['gemini-embedding-001', {}],
] as const)('%s at %o has `:embedContent`', async (model, dialect) => {
  const { testServer, upstream } = await open(model, dialect)
  await testServer.ask('/v1/embeddings', { model: 'm', input: 'a text' })
  expect(upstream.seen[0]!.url).toMatch(/:(?:embedContent|batchEmbedContents)$/)
})
