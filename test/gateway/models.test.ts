import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { CohereClient } from 'cohere-ai'
import { describe, expect, test } from 'vitest'
import type { ModelFacts } from '../../src/config/index.ts'
import { channelAt, KEY } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { opener } from '../builders/opener.ts'

const { openGateway } = opener()

const IDS = ['a', 'b', 'c/d', 'e', 'f', 'g']

async function open(rows: { readonly [format: string]: readonly string[] }, facts: readonly ModelFacts[] = []) {
  const channels = Object.entries(rows).map(([format, ids]) => {
    const models = { named: new Map(ids.map(id => [id, id])), patterns: [] }
    return { ...channelAt('http://127.0.0.1:1', { format, models }), name: format }
  })
  const testServer = await openGateway(channels, { config: { models: new Map(facts.map(one => [one.id, one])) } })
  const get = (path: string) => testServer.ask(path, undefined, { method: 'GET' })
  const asMessages = (path: string) =>
    testServer.ask(path, undefined, { method: 'GET', headers: { 'anthropic-version': '2023-06-01' } })
  return { testServer, get, asMessages }
}

describe('pages of models in the messages shape', () => {
  test('go on behind an id, and before one', async () => {
    const { asMessages } = await open({ chat: IDS })
    const page = async (query: string) => {
      const { data, ...rest } = (await asMessages(`/v1/models?${query}`)).json
      return { ids: data.map(({ id }: { id: string }) => id), ...rest }
    }
    const of = (ids: string[], has_more: boolean) => ({
      ids,
      has_more,
      first_id: ids[0] ?? null,
      last_id: ids.at(-1) ?? null,
    })
    expect(await page('')).toEqual(of(IDS, false))
    expect(await page('limit=2')).toEqual(of(['a', 'b'], true))
    expect(await page('limit=2&after_id=b')).toEqual(of(['c/d', 'e'], true))
    expect(await page('limit=2&after_id=e')).toEqual(of(['f', 'g'], false))
    expect(await page('limit=1000&after_id=g')).toEqual(of([], false))
    expect(await page('limit=2&before_id=e')).toEqual(of(['b', 'c/d'], true))
    expect(await page('limit=2&before_id=b')).toEqual(of(['a'], false))
    expect(await page('after_id=bb&limit=1')).toEqual(of(['c/d'], true))
  })

  test.each(['limit=0', 'limit=1001', 'limit=x', 'limit=1.5', 'limit=-1', 'after_id=a&before_id=b'])(
    'are refused with %s',
    async query => {
      const { asMessages } = await open({ chat: IDS })
      const answer = await asMessages(`/v1/models?${query}`)
      expect(answer.status).toBe(400)
      expect(answer.json.error.type).toBe('invalid_request_error')
    },
  )

  test('are gone through by Anthropic’s own client', async () => {
    const { testServer } = await open({ chat: IDS })
    const client = new Anthropic({ apiKey: KEY, baseURL: testServer.server.address })
    const ids: string[] = []
    for await (const { id } of client.models.list({ limit: 2 })) ids.push(id)
    expect(ids).toEqual(IDS)
  })
})

describe('pages of models in the contents shape', () => {
  test('go on by their token', async () => {
    const { get } = await open({ chat: IDS })
    const whole = (await get('/v1beta/models')).json
    expect(whole.models).toHaveLength(6)
    expect(whole.nextPageToken).toBeUndefined()
    const names: string[] = []
    let token: string | undefined = ''
    let pages = 0
    while (token !== undefined) {
      const { json } = await get(`/v1beta/models?pageSize=4${token && `&pageToken=${encodeURIComponent(token)}`}`)
      names.push(...json.models.map(({ name }: { name: string }) => name))
      token = json.nextPageToken
      pages++
    }
    expect(pages).toBe(2)
    expect(names).toEqual(IDS.map(id => `models/${id}`))
    expect((await get('/v1beta/models?pageSize=6')).json.nextPageToken).toBeUndefined()
    expect((await get('/v1beta/models?pageSize=0')).json.models).toHaveLength(6)
    expect((await get('/v1beta/models?pageSize=5000&page_size=1')).json.models).toHaveLength(6)
    expect((await get('/v1beta/models?page_size=1')).json.models).toHaveLength(1)
  })

  test.each(['pageSize=-1', 'pageSize=x', 'pageToken=!', 'pageToken=%00'])('are refused with %s', async query => {
    const { get } = await open({ chat: IDS })
    const answer = await get(`/v1beta/models?${query}`)
    expect(answer.status).toBe(400)
    expect(answer.json.error.status).toBe('INVALID_ARGUMENT')
  })

  test('are gone through by Google’s own client', async () => {
    const { testServer } = await open({ chat: IDS })
    const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: testServer.server.address } })
    const names: unknown[] = []
    for await (const { name } of await client.models.list({ config: { pageSize: 2 } })) names.push(name)
    expect(names).toEqual(IDS.map(id => `models/${id}`))
  })
})

describe('pages of models in the shape of Cohere', () => {
  const NAMED = { 'x-fern-sdk-name': 'cohere' }
  const named = (testServer: TestServer, path: string, headers: object = NAMED) =>
    testServer.ask(path, undefined, { method: 'GET', headers: headers as never })

  test('are gone through by Cohere’s own client', async () => {
    const { testServer } = await open({ chat: IDS })
    const client = new CohereClient({ token: KEY, environment: testServer.server.address })
    const names: unknown[] = []
    let pageToken: string | undefined
    do {
      const { models, nextPageToken } = await client.models.list({ pageSize: 2, ...(pageToken && { pageToken }) })
      names.push(...models.map(({ name }) => name))
      pageToken = nextPageToken
    } while (pageToken !== undefined)
    expect(names).toEqual(IDS)
    expect(await client.models.get('c/d')).toMatchObject({ name: 'c/d', endpoints: ['chat'], finetuned: false })
    await expect(client.models.get('nobody')).rejects.toMatchObject({ statusCode: 404 })
  })

  test('have the models of one endpoint', async () => {
    const { testServer } = await open({ chat: ['c'], embeddings: ['e'], rerank: ['r'] })
    const of = async (query: string) =>
      (await named(testServer, `/v1/models?${query}`)).json.models.map(({ name }: { name: string }) => name)
    expect(await of('endpoint=chat')).toEqual(['c'])
    expect(await of('endpoint=embed')).toEqual(['e'])
    expect(await of('endpoint=rerank')).toEqual(['r'])
    expect(await of('endpoint=classify')).toEqual([])
    expect(await of('endpoint=chat&default_only=true')).toEqual([])
  })

  test('are recognised by the name of the client or of the application, and so are their errors', async () => {
    const { testServer } = await open({ chat: IDS })
    for (const headers of [NAMED, { 'x-fern-sdk-name': 'cohere-ai' }, { 'x-client-name': 'my app' }]) {
      expect((await named(testServer, '/v1/models', headers)).json.models).toHaveLength(6)
      const { status, json } = await named(testServer, '/v1/models?page_size=x', headers)
      expect(status).toBe(400)
      expect(json.message).toMatch(/^page_size: /)
    }
    expect((await named(testServer, '/v1/models', { 'x-fern-sdk-name': 'other' })).json.data).toHaveLength(6)
  })
})

describe('inference profiles of Bedrock', () => {
  const PROFILE = 'us.anthropic.claude-opus-4-8-v1:0'

  test('are the models that the key may call', async () => {
    const { testServer, get } = await open({ chat: [...IDS, PROFILE] })
    const list = (await get('/inference-profiles?type=SYSTEM_DEFINED')).json
    expect(list.inferenceProfileSummaries.map((one: { inferenceProfileId: string }) => one.inferenceProfileId)).toEqual(
      [...[...IDS, PROFILE].sort()],
    )
    expect(list.nextToken).toBeUndefined()
    const one = (await get(`/bedrock/inference-profiles/${encodeURIComponent(PROFILE)}`)).json
    expect(one).toMatchObject({ status: 'ACTIVE', type: 'SYSTEM_DEFINED', inferenceProfileId: PROFILE })
    expect(one.models[0].modelArn).toMatch(/foundation-model\/anthropic\.claude-opus-4-8-v1:0$/)
    expect((await get('/inference-profiles?type=APPLICATION')).json.inferenceProfileSummaries).toEqual([])
    const scope = 'AWS4-HMAC-SHA256 Credential='
    const signed = {
      authorization: `${scope}${KEY}/20261128/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=0`,
    }
    const answer = await testServer.ask('/inference-profiles', undefined, { method: 'GET', headers: signed })
    expect(answer.json).toEqual(list)
  })

  test('have pages', async () => {
    const { get } = await open({ chat: IDS })
    const first = (await get('/inference-profiles?maxResults=4')).json
    const rest = (await get(`/inference-profiles?maxResults=4&nextToken=${first.nextToken}`)).json
    expect([first, rest].map(page => page.inferenceProfileSummaries.length)).toEqual([4, 2])
    expect(rest.nextToken).toBeUndefined()
  })

  test.each([
    ['/inference-profiles/nobody', 404, 'ResourceNotFoundException'],
    ['/inference-profiles?maxResults=x', 400, 'ValidationException'],
  ])('%s is an error of AWS', async (path, status, exception) => {
    const { get } = await open({ chat: IDS })
    const answer = await get(path)
    expect([answer.status, answer.headers['x-amzn-errortype']]).toEqual([status, exception])
  })
})

describe('what a model can be asked for', () => {
  const CONVERSES = ['generateContent', 'streamGenerateContent', 'countTokens']
  const EMBEDS = ['embedContent', 'batchEmbedContents', 'countTokens']

  test.each([
    ['chat', 'm', CONVERSES],
    ['contents', 'gemini-3-pro', CONVERSES],
    ['contents', 'gemini-embedding-001', EMBEDS],
    ['embeddings', 'bge-m3', EMBEDS],
    ['cohere', 'embed-v4.0', EMBEDS],
    ['images', 'gpt-image-1', CONVERSES],
    ['rerank', 'rerank-v3', ['countTokens']],
  ])('of %s: %s', async (format, id, methods) => {
    const { get, asMessages } = await open({ [format]: [id] })
    const told = (await get('/v1beta/models')).json.models[0]
    expect(told.supportedGenerationMethods).toEqual(methods)
    expect((await get(`/v1beta/models/${id}`)).json).toEqual(told)
    const record = (await asMessages(`/v1/models/${id}`)).json
    expect((await asMessages('/v1/models')).json.data).toEqual([record])
    const converses = format === 'chat' || id === 'gemini-3-pro'
    expect(record.capabilities === null).toBe(converses)
    if (!converses) expect(JSON.stringify(record.capabilities)).not.toContain('true')
  })

  test('is what its operator says, where several formats could do it', async () => {
    const fact = (id: string, more: Partial<ModelFacts>): ModelFacts => ({
      id,
      input: ['text'],
      output: ['text'],
      ...more,
    })
    const rows = { chat: ['x', 'y', 'text-embedding-z'], embeddings: ['x', 'y', 'text-embedding-z'] }
    const facts = [fact('x', { interface: 'embeddings' }), fact('text-embedding-z', { interface: 'chat' })]
    const { get } = await open(rows, facts)
    const methods = (await get('/v1beta/models')).json.models.map(
      (model: { supportedGenerationMethods: string[] }) => model.supportedGenerationMethods[0],
    )
    expect(methods).toEqual(['generateContent', 'embedContent', 'generateContent'])
    const output = await open(rows, [fact('y', { output: ['embedding'] })])
    expect((await output.get('/v1beta/models/y')).json.supportedGenerationMethods).toEqual(EMBEDS)
  })
})
