import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { GoogleGenAI } from '@google/genai'
import { type EmbeddingModel, embed, embedMany } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseObject } from '../../src/canonical/node.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { channelAt, KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { embedding, heard, tokensOf, UPSTREAMS, vectorOf } from './upstreams.ts'

const TEXTS = ['The cat sat on the mat.', 'Où était le chat ?', '日本']
const FORMATS = Object.keys(UPSTREAMS).filter(format => WRITERS[format] !== undefined)
/** Each client's value for a query. */
const QUERY: { readonly [format: string]: string } = { contents: 'RETRIEVAL_QUERY', cohere: 'search_query' }

describe.each(FORMATS)('before an upstream of %s', format => {
  let upstream: FakeUpstream
  let testServer: TestServer
  beforeAll(async () => {
    upstream = await FakeUpstream.open(embedding(format))
    testServer = await TestServer.open([channelAt(upstream.address, { format })])
  })
  afterAll(async () => {
    await testServer.server.close(0)
    await upstream.close()
  })
  const last = () => heard(format, upstream.seen.at(-1)!)

  describe('openai', () => {
    const client = () => new OpenAI({ baseURL: `${testServer.server.address}/v1`, apiKey: KEY, maxRetries: 0 })

    test.each([undefined, 'float', 'base64'] as const)('encoding %s', async encoding_format => {
      const got = await client().embeddings.create({
        model: 'm',
        input: TEXTS,
        dimensions: 4,
        ...(encoding_format === undefined ? {} : { encoding_format }),
      })
      const vectors = got.data.map(({ embedding }) => embedding)
      if (encoding_format === 'base64') expect(vectors.every(one => typeof one === 'string')).toBe(true)
      else expect(vectors).toEqual(TEXTS.map(vectorOf))
      expect(got.data.map(({ index, object }) => [index, object])).toEqual([0, 1, 2].map(at => [at, 'embedding']))
      expect(got).toMatchObject({ object: 'list', usage: { prompt_tokens: tokensOf(TEXTS) } })
      expect(last()).toMatchObject({ texts: TEXTS, dimensions: 4 })
    })

    test('one text', async () => {
      const got = await client().embeddings.create({ model: 'm', input: 'A word.' })
      expect(got.data[0]!.embedding).toEqual(vectorOf('A word.'))
    })

    test('an upstream that counts nothing', async () => {
      upstream.script = (response, seen) => {
        const {
          usage: _,
          usageMetadata: __,
          meta: ___,
          ...body
        } = UPSTREAMS[format]!.answer(parseObject(seen.text)!, ['A word.'], seen.url)
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      }
      const { usage } = await client().embeddings.create({ model: 'm', input: 'A word.' })
      upstream.script = embedding(format)
      expect(usage).toEqual(format === 'embeddings' ? undefined : { prompt_tokens: 0, total_tokens: 0 })
    })

    test('token ids go to their own format only, and texts of theirs to others', async () => {
      const input = [[9906, 1917], [0]]
      const { data } = await client().embeddings.create({ model: 'm', input, encoding_format: 'float' })
      const inputs = format === 'embeddings' ? ['9906,1917', '0'] : ['Hello world', '!']
      expect(data.map(({ embedding }) => embedding)).toEqual(inputs.map(vectorOf))
    })

    test('nothing to embed', async () => {
      await expect(client().embeddings.create({ model: 'm', input: [] })).rejects.toMatchObject({ status: 400 })
    })
  })

  const TYPES: readonly (readonly [path: string, body: object, own: string])[] = [
    // Voyage's client reads the base64 as integers of eight bits.
    ['/v1/embeddings', { input: TEXTS, output_dtype: 'int8', encoding_format: 'base64' }, 'embeddings'],
    ['/v1/embeddings', { input: TEXTS, embedding_type: 'ubinary' }, 'embeddings'],
    ['/v2/embed', { texts: TEXTS, input_type: 'clustering', embedding_types: ['int8', 'binary'] }, 'cohere'],
  ]
  test.each(TYPES)('numbers of another type are never floats: %s %o', async (path, body, own) => {
    if (format === own) return
    const { status, text } = await testServer.ask(path, { model: 'm', ...body })
    expect([status, text]).toEqual([422, expect.stringContaining('only-in-')])
  })

  test('numbers of several types may be floats', async () => {
    const body = { model: 'm', texts: TEXTS, input_type: 'clustering', embedding_types: ['float', 'int8'] }
    expect((await testServer.ask('/v2/embed', body)).status).toBe(200)
    const floats = { model: 'm', input: TEXTS, output_dtype: 'float', embedding_type: null }
    expect((await testServer.ask('/v1/embeddings', floats)).status).toBe(200)
  })

  test.each(['v1', 'v1beta'])('@google/genai, %s', async apiVersion => {
    const client = new GoogleGenAI({ apiKey: KEY, apiVersion, httpOptions: { baseUrl: testServer.server.address } })
    const got = await client.models.embedContent({
      model: 'm',
      contents: TEXTS,
      config: { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 4 },
    })
    expect(got.embeddings!.map(({ values }) => values)).toEqual(TEXTS.map(vectorOf))
    expect(last()).toMatchObject({ texts: TEXTS, dimensions: 4, ...(QUERY[format] && { purpose: QUERY[format] }) })
  })

  const providers: readonly (readonly [string, () => EmbeddingModel])[] = [
    ['openai', () => createOpenAI({ baseURL: `${testServer.server.address}/v1`, apiKey: KEY }).embedding('m')],
    [
      'google',
      () => createGoogleGenerativeAI({ baseURL: `${testServer.server.address}/v1beta`, apiKey: KEY }).embedding('m'),
    ],
  ]
  test.each(providers)('AI SDK, %s: one and many', async (_, model) => {
    const one = await embed({ model: model(), value: TEXTS[0]!, maxRetries: 0 })
    expect(one.embedding).toEqual(vectorOf(TEXTS[0]!))
    const many = await embedMany({ model: model(), values: TEXTS, maxRetries: 0 })
    expect(many.embeddings).toEqual(TEXTS.map(vectorOf))
  })

  test('the gateway holds no number to the light: every bit of a float comes through', async () => {
    const input = Array.from({ length: 50 }, (_, index) => `text ${index}`)
    const whole = (encoding_format: string) =>
      testServer.ask('/v1/embeddings', { model: 'm', input, encoding_format }).then(({ json }) => json.data)
    const [floats, packed] = [await whole('float'), await whole('base64')]
    for (const [index, { embedding }] of floats.entries()) {
      const bytes = Buffer.from(packed[index].embedding, 'base64')
      expect(embedding.map((_: number, at: number) => bytes.readFloatLE(at * 4))).toEqual(embedding)
    }
  })
})
