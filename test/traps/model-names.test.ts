import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { ChannelConfig } from '../../src/config/index.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'
import { channelAt, KEY } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { VERSION_HEADERS } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'

const { openGateway, openUpstream } = opener()

type Body = { readonly [field: string]: unknown }

/** Answer of an upstream of each format to any request. */
const SAID: { readonly [format: string]: object } = {
  contents: { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi.' }] }, finishReason: 'STOP' }] },
  chat: { id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }] },
  messages: { id: 'm', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi.' }], usage: {} },
  responses: { id: 'r', object: 'response', status: 'completed', output: [] },
  transcriptions: { text: 'Hi.' },
  embeddings: { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }] },
}

const COUNTED = { totalTokens: 3 }
const EMBEDDED = { embedding: { values: [1] } }
const BATCH = { embeddings: [{ values: [1] }, { values: [1] }] }

function saidAt(format: string, url: string): object {
  if (url.includes(':countTokens')) return COUNTED
  if (url.includes(':batchEmbedContents')) return BATCH
  return url.includes(':embedContent') ? EMBEDDED : SAID[format]!
}

/** Opens a gateway with one upstream of a format. `pro` is called `cheap` there, and keys may not use `dear`. */
async function open(format: string, models: Partial<ChannelConfig['models']> = {}, allowed = ['pro', 'flash', 'a/*']) {
  const upstream = await openUpstream((response, { url }) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(saidAt(format, url)))
  })
  const named = new Map([
    ['pro', 'cheap'],
    ['flash', 'flash-002'],
    ['a/b', 'a/b'],
    ['a/c', 'c:1'],
    ['dear', 'dear'],
  ])
  const channel = channelAt(upstream.address, { format, models: { named, patterns: [], ...models } })
  const testServer = await openGateway([channel], { group: { models: allowed } })
  const asked = () => upstream.seen.filter(({ method }) => method === 'POST')
  return { testServer, upstream, asked }
}

/** Returns the status of an answer for a path that is sent exactly as given. URLs drop dots by themselves. */
function statusAt(testServer: TestServer, path: string, body: Body): Promise<number> {
  const { hostname: host, port } = new URL(testServer.server.address)
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${KEY}` }
    const out = request({ host, port, path, method: 'POST', agent: false, headers }, answer => {
      answer.resume().on('end', () => resolve(answer.statusCode!))
    })
    out.on('error', reject).end(JSON.stringify(body))
  })
}

const HI = [{ role: 'user', content: 'Hi.' }]
const TURN = { contents: [{ role: 'user', parts: [{ text: 'Hi.' }] }] }

describe('trap 105: the model of a path', () => {
  test.each([
    ['pro', 'cheap'],
    ['%70ro', 'cheap'],
    ['%70%72%6f', 'cheap'],
    ['a/b', 'a/b'],
    ['a%2Fb', 'a/b'],
    ['a%2fc', 'c:1'],
  ])('%s goes upstream as %s', async (name, upstreamName) => {
    const { testServer, upstream } = await open('contents')
    for (const version of ['v1', 'v1beta']) {
      const answer = await testServer.ask(`/${version}/models/${name}:generateContent`, TURN)
      expect(answer.status).toBe(200)
      expect(upstream.seen.at(-1)!.url).toBe(`/v1/v1beta/models/${upstreamName}:generateContent`)
    }
  })

  test('is decoded once', async () => {
    const { testServer, upstream } = await open('contents')
    const answer = await testServer.ask('/v1beta/models/%2570ro:generateContent', TURN)
    expect(answer.status).toBe(404)
    expect(upstream.seen).toEqual([])
  })

  test.each(['flash/../pro', 'flash/%2e%2e/pro', 'flash%2F..%2Fpro', 'a/./b', '..', '.', '%2E', ''])(
    '"%s" is no name',
    async name => {
      const { testServer, asked } = await open('contents', { patterns: ['*'] }, ['*'])
      expect(await statusAt(testServer, `/v1beta/models/${name}:generateContent`, TURN)).toBe(400)
      expect(asked()).toEqual([])
    },
  )

  test.each(['', '.', '..', 'flash/../pro', './pro'])('"%s" is no name in a body either', async model => {
    const { testServer, asked } = await open('contents', { patterns: ['*'] }, ['*'])
    const chat = await testServer.ask('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi.' }] })
    expect(chat.status).toBe(400)
    expect(chat.json.error.param).toBe('model')
    const embedding = await testServer.ask('/v1/embeddings', { model, input: 'Hi.' })
    expect(embedding.status).toBe(400)
    expect(asked()).toEqual([])
  })

  test.each([
    ...['flash\\..\\pro', 'flash\\pro', '..\\pro', 'flash%5C..%5Cpro', 'flash%5c..%2fpro', 'flash%255c..%255cpro'],
    ...[
      'flash%252F..%252Fpro',
      'flash/%252e%252e/pro',
      'flash/..;/pro',
      'flash/..%3Bx=1/pro',
      'flash/%00/pro',
      'pro%0a',
    ],
    ...[
      'pro%0d%0ahost:%20x',
      'flash/%EF%BC%8E%EF%BC%8E/pro',
      'flash%EF%BC%8F..%EF%BC%8Fpro',
      'flash%EF%BC%BC..%EF%BC%BCpro',
    ],
    ...['flash/%E2%80%A5/pro', '%7F', 'flash%25252525252525252f..%2525252525252525252fpro'],
  ])('%s is no name, whoever decodes it', async name => {
    const { testServer, asked } = await open('contents', { patterns: ['*'] }, ['*'])
    expect(await statusAt(testServer, `/v1beta/models/${name}:generateContent`, TURN)).toBe(400)
    const model = decodeURIComponent(name)
    const chat = await testServer.ask('/v1/chat/completions', { model, messages: HI })
    expect([chat.status, chat.json.error.param]).toEqual([400, 'model'])
    const beside = await testServer.ask('/v1/chat/completions', { model: 'pro', models: [model], messages: HI })
    expect([beside.status, beside.json.error.param]).toEqual([400, 'models'])
    expect(asked()).toEqual([])
  })

  test('with other characters stays one name', async () => {
    const { testServer, asked } = await open('contents', { patterns: ['*'] }, ['*'])
    for (const model of ['a%b', '100%', 'a b', 'é', 'org/model:free', 'a..b', '...', 'v1.5;q'])
      expect((await testServer.ask('/v1/chat/completions', { model, messages: HI })).status).toBe(200)
    expect(asked().map(({ url }) => decodeURIComponent(url.slice('/v1/v1beta/models/'.length)))).toEqual(
      ['a%b', '100%', 'a b', 'é', 'org/model:free', 'a..b', '...', 'v1.5;q'].map(model => `${model}:generateContent`),
    )
  })

  test('that begins with a slash, or has two in a row, stays one name upstream', async () => {
    const { testServer, asked } = await open('contents', { patterns: ['*'] }, ['*'])
    for (const model of ['/models/llama.gguf', 'a//b'])
      await testServer.ask('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi.' }] })
    expect(asked().map(({ url }) => url)).toEqual([
      '/v1/v1beta/models/%2Fmodels%2Fllama.gguf:generateContent',
      '/v1/v1beta/models/a%2F%2Fb:generateContent',
    ])
  })
})

describe('trap 105: the model of a path, said again in the body', () => {
  const toEmbed = { content: { parts: [{ text: 'Hi.' }] } }
  const asking = (model: string): readonly (readonly [string, Body])[] => [
    ['generateContent', { ...TURN, model }],
    ['embedContent', { ...toEmbed, model }],
    ['batchEmbedContents', { requests: [toEmbed, { ...toEmbed, model }] }],
    ['countTokens', { generateContentRequest: { ...TURN, model } }],
    ['batchEmbedContents', { requests: [toEmbed, toEmbed], model }],
    ['countTokens', { generate_content_request: { ...TURN, model } }],
    ['countTokens', { generateContentRequest: TURN, model }],
  ]

  test.each(['pro', 'models/pro', 'tunedModels/pro'])('as %s is written as the upstream calls it', async model => {
    const { testServer, upstream } = await open('contents')
    for (const [method, body] of asking(model)) {
      expect((await testServer.ask(`/v1beta/models/pro:${method}`, body)).status).toBe(200)
      const { text } = upstream.seen.at(-1)!
      expect(text).toContain(`"model":"${model.replace('pro', 'cheap')}"`)
      expect(text).not.toContain('pro"')
    }
  })

  test.each(['dear', 'models/dear', 'flash', 'x/pro'])('as %s, which is another, is refused', async model => {
    const { testServer, upstream } = await open('contents')
    for (const [method, body] of asking(model))
      expect((await testServer.ask(`/v1beta/models/pro:${method}`, body)).status).toBe(400)
    expect(upstream.seen).toEqual([])
  })
})

test('trap 105: a request to count is wrapped once, in one spelling', async () => {
  const { testServer, asked } = await open('contents')
  for (const generateContentRequest of [TURN, null]) {
    const body = { ...TURN, generateContentRequest, generate_content_request: { ...TURN, model: 'models/dear' } }
    const answer = await testServer.ask('/v1beta/models/pro:countTokens', body)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('generate_content_request')
  }
  expect(asked()).toEqual([])
})

test.each([
  ['kling', '/v1/videos/text2video', { model_name: 'pro', model: 'dear', prompt: 'A cat.' }],
  ['videos', '/videos/video_1/remix', { model: 'dear', prompt: 'A cat.' }],
])('trap 105: a body of %s has no model that was not looked at', (format, path, body) => {
  const read = READERS[format]!.request!({ path, query: {}, headers: {}, body })
  const { wire, losses } = WRITERS[format]!.request!({ ...read, model: 'cheap' }, { dialect: {}, native: true })
  expect(JSON.stringify(wire)).not.toContain('dear')
  expect(losses.map(({ path }) => path)).toEqual([['extras', format, 'model']])
})

const CONTENTS_PATH = '/v1beta/models/pro:generateContent'
const BATCH_PATH = '/v1beta/models/pro:batchEmbedContents'
const EMBED_PATH = '/v1beta/models/pro:embedContent'
const COUNT_PATH = '/v1beta/models/pro:countTokens'
const TO_EMBED = { content: { parts: [{ text: 'Hi.' }] } }

/** A turn of Messages that defines a tool with a model of its own. */
const defining = (model: string): Body => {
  const definition = { type: 'advisor_20260301', name: 'advisor', model }
  return { role: 'system', content: [{ type: 'tool_addition', tool: { type: 'tool_definition', definition } }] }
}

/** Bodies of a format that name other models besides their own. */
const OTHERS: readonly (readonly [format: string, path: string, body: (model: string) => Body])[] = [
  ['chat', '/v1/chat/completions', model => ({ messages: HI, models: ['flash', model] })],
  ['chat', '/v1/chat/completions', model => ({ messages: HI, fallbacks: [model] })],
  ['chat', '/v1/chat/completions', model => ({ messages: HI, fallbacks: [{ model, messages: HI }] })],
  ['messages', '/v1/messages', model => ({ max_tokens: 9, messages: HI, fallbacks: [{ model }] })],
  [
    'messages',
    '/v1/messages',
    model => ({ max_tokens: 9, messages: HI, tools: [{ type: 'advisor_20260301', name: 'advisor', model }] }),
  ],
  ['messages', '/v1/messages', model => ({ max_tokens: 9, messages: [...HI, defining(model)] })],
  ['responses', '/v1/responses', model => ({ input: 'Hi.', tools: [{ type: 'image_generation', model }] })],
  ['responses', '/v1/responses', model => ({ input: 'Hi.', models: [model] })],
  [
    'responses',
    '/v1/responses',
    model => ({ input: [{ type: 'additional_tools', tools: [{ type: 'image_generation', model }] }, ...HI] }),
  ],
  [
    'responses',
    '/v1/responses',
    model => ({ input: { type: 'additional_tools', tools: [{ type: 'image_generation', model }] } }),
  ],
  [
    'responses',
    '/v1/responses',
    model => ({
      input: 'Hi.',
      tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'image_generation', model }] }],
    }),
  ],
  ['chat', '/v1/chat/completions', model => ({ messages: HI, plugins: [{ id: 'fusion', model }] })],
  ['chat', '/v1/chat/completions', model => ({ messages: HI, plugins: [{ id: 'fusion', analysis_models: [model] }] })],
  [
    'chat',
    '/v1/chat/completions',
    model => ({ messages: HI, tools: [{ type: 'openrouter:fusion', parameters: { analysis_models: [model] } }] }),
  ],
  ['embeddings', '/v1/embeddings', model => ({ input: 'Hi.', fallbacks: [model] })],
  ['chat', '/v1/chat/completions', model => ({ messages: HI, context_window_fallbacks: [model] })],
  ['messages', '/v1/messages', model => ({ max_tokens: 9, messages: HI, content_policy_fallbacks: [{ model }] })],
  ['chat', '/v1/chat/completions', model => ({ messages: HI, extra_body: { model } })],
  ['embeddings', '/v1/embeddings', model => ({ input: 'Hi.', extra_body: { model } })],
  ['responses', '/v1/responses', model => ({ input: 'Hi.', extra_body: { models: [model] } })],
  ['chat', '/v1/chat/completions', model => ({ messages: HI, extra_body: { fallbacks: [{ model }] } })],
  ['chat', '/v1/chat/completions', model => ({ messages: HI, extra_body: { plugins: [{ id: 'fusion', model }] } })],
  [
    'responses',
    '/v1/responses',
    model => ({ input: 'Hi.', extra_body: { tools: [{ type: 'image_generation', model }] } }),
  ],
  ['chat', '/v1/chat/completions', model => ({ messages: HI, fallbacks: [{ model: 'a/b', extra_body: { model } }] })],
  ['chat', '/v1/chat/completions', model => ({ messages: HI, fallbacks: [{ model: 'a/b', fallbacks: [model] }] })],
  [
    'messages',
    '/v1/messages',
    model => ({
      ...{ max_tokens: 9, messages: HI },
      fallbacks: [{ model: 'a/b', tools: [{ type: 'advisor_20260301', name: 'advisor', model }] }],
    }),
  ],
  ['embeddings', '/v1/embeddings', model => ({ input: 'Hi.', fallbacks: [{ model: 'a/b', extra_body: { model } }] })],
  [
    'contents',
    CONTENTS_PATH,
    model => ({ ...TURN, generationConfig: { routingConfig: { manualMode: { modelName: model } } } }),
  ],
  [
    'contents',
    CONTENTS_PATH,
    model => ({ ...TURN, generation_config: { routing_config: { manualMode: { model_name: model } } } }),
  ],
  [
    'contents',
    CONTENTS_PATH,
    model => ({
      ...TURN,
      tools: [
        { retrieval: { vertex_rag_store: { ragRetrievalConfig: { ranking: { llmRanker: { modelName: model } } } } } },
      ],
    }),
  ],
]
/** Returns the same with the upstream's names. */
const renamed = (body: (model: string) => Body): Body =>
  JSON.parse(JSON.stringify(body('flash')).replaceAll('"flash"', '"flash-002"'))
describe('trap 105: other models in a body', () => {
  test.each(OTHERS)('%s %s: are named as the upstream calls them', async (format, path, body) => {
    const { testServer, upstream } = await open(format)
    const answer = await testServer.ask(path, { model: 'pro', ...body('flash') }, VERSION_HEADERS)
    expect(answer.status).toBe(200)
    const written = JSON.parse(upstream.seen[0]!.text)
    expect(written).toMatchObject({ model: 'cheap', ...renamed(body) })
    expect(JSON.stringify(written)).not.toContain('"flash"')
  })

  test.each(OTHERS)('%s %s: are refused where the key may not use them', async (format, path, body) => {
    const { testServer, upstream } = await open(format)
    const answer = await testServer.ask(path, { model: 'pro', ...body('dear') }, VERSION_HEADERS)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('dear')
    expect(upstream.seen).toEqual([])
  })

  test.each(OTHERS)('%s %s: are refused where the upstream has none of that name', async (format, path, body) => {
    const { testServer, upstream } = await open(format, {}, ['*'])
    expect((await testServer.ask(path, { model: 'pro', ...body('nobody') }, VERSION_HEADERS)).status).toBe(400)
    expect(upstream.seen).toEqual([])
  })

  test.each(['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'])(
    'that are no names are refused, wherever a list of names is: %s',
    async field => {
      const { testServer, upstream } = await open('chat', {}, ['*'])
      for (const list of [[{ pro: 'dear' }], [{ pro: [7] }], [{}], [7], [['dear']]])
        expect(
          (await testServer.ask('/v1/chat/completions', { model: 'pro', messages: HI, [field]: list })).status,
        ).toBe(400)
      expect(upstream.seen).toEqual([])
    },
  )

  test.each([
    ['flash', 200],
    ['dear', 403],
  ])('are read in LiteLLM’s maps of fallbacks: %s', async (model, status) => {
    const { testServer, upstream } = await open('chat')
    const body = { model: 'pro', messages: HI, context_window_fallbacks: [{ pro: ['a/b', model] }, { '*': [model] }] }
    expect((await testServer.ask('/v1/chat/completions', body)).status).toBe(status)
    const written = upstream.seen.map(({ text }) => JSON.parse(text).context_window_fallbacks)
    expect(written).toEqual(status === 200 ? [[{ cheap: ['a/b', 'flash-002'] }, { '*': ['flash-002'] }]] : [])
  })

  test('that LiteLLM would take for maps begin with their model', async () => {
    const { testServer, upstream } = await open('chat')
    const body = { model: 'pro', messages: HI, fallbacks: [{ cheap: ['dear'], model: 'flash' }] }
    await testServer.ask('/v1/chat/completions', body)
    expect(upstream.seen[0]!.text).toContain('[{"model":"flash-002","cheap":["dear"]}]')
  })

  test.each(['fallbacks', 'fallbacks[]', 'Fallbacks[]', 'Model'])('are refused in forms, too: %s', async field => {
    const { testServer, upstream } = await open('transcriptions')
    const form = new FormData()
    form.set('model', 'pro')
    form.append(field, 'dear')
    form.append(field, 'dear')
    form.set('file', new File(['ID3 words'], 'a.mp3'))
    const answer = await fetch(`${testServer.server.address}/v1/audio/transcriptions`, {
      ...{ method: 'POST', body: form, headers: { authorization: `Bearer ${KEY}` } },
    })
    expect([400, 403]).toContain(answer.status)
    await answer.text()
    expect(upstream.seen).toEqual([])
  })

  test.each([
    ['flash', 200],
    ['dear', 403],
    ['default', 403],
  ])('in a list of a form that has one item: %s', async (model, status) => {
    const { testServer, upstream } = await open('transcriptions')
    const form = new FormData()
    form.set('model', 'pro')
    form.set('fallbacks[]', model)
    form.set('file', new File(['ID3 words'], 'a.mp3'))
    const answer = await fetch(`${testServer.server.address}/v1/audio/transcriptions`, {
      ...{ method: 'POST', body: form, headers: { authorization: `Bearer ${KEY}` } },
    })
    expect(answer.status).toBe(status)
    await answer.text()
    expect(upstream.seen.map(({ text }) => text.includes('flash-002'))).toEqual(status === 200 ? [true] : [])
  })

  test.each([
    ['chat', '/v1/chat/completions', { messages: HI, Model: 'dear' }],
    ['chat', '/v1/chat/completions', { messages: HI, FALLBACKS: ['dear'] }],
    ['chat', '/v1/chat/completions', { messages: HI, fallbac\u212as: ['dear'] }],
    ['chat', '/v1/chat/completions', { messages: HI, model\u017f: ['dear'] }],
    ['messages', '/v1/messages', { messages: HI, max_tokens: 9, MODEL: 'dear' }],
    ['responses', '/v1/responses', { input: 'Hi.', Tools: [{ type: 'image_generation', model: 'dear' }] }],
    ['embeddings', '/v1/embeddings', { input: 'Hi.', modeL: 'dear' }],
    ['contents', CONTENTS_PATH, { ...TURN, GenerationConfig: {} }],
    ['contents', CONTENTS_PATH, { ...TURN, generationconfig: {} }],
    ['contents', CONTENTS_PATH, { ...TURN, generationConfig: { RoutingConfig: {} } }],
    [
      'contents',
      CONTENTS_PATH,
      { ...TURN, generationConfig: { routingConfig: { manualMode: { ModelName: 'dear' } } } },
    ],
    ['responses', '/v1/responses', { input: 'Hi.', tools: [{ type: 'image_generation', Model: 'dear' }] }],
    ['responses', '/v1/responses', { input: [{ type: 'additional_tools', Tools: [] }, ...HI] }],
    ['chat', '/v1/chat/completions', { messages: HI, plugins: { id: 'fusion', ANALYSIS_MODELS: ['dear'] } }],
    ['messages', '/v1/messages', { messages: HI, max_tokens: 9, fallbacks: [{ model: 'pro', Model: 'dear' }] }],
    ['kling', '/videovendor/v1/videos/text2video', { prompt: 'A cat.', model_name: 'pro', Model_Name: 'dear' }],
    ['contents', BATCH_PATH, { requests: [TO_EMBED, { ...TO_EMBED, Model: 'models/dear' }] }],
    ['contents', BATCH_PATH, { requests: [TO_EMBED], Requests: [{ ...TO_EMBED, model: 'models/dear' }] }],
    ['contents', BATCH_PATH, { requests: [TO_EMBED], MODEL: 'models/dear' }],
    ['contents', EMBED_PATH, { ...TO_EMBED, modeL: 'models/dear' }],
    ['contents', COUNT_PATH, { generateContentRequest: { ...TURN, Model: 'models/dear' } }],
    ['contents', COUNT_PATH, { ...TURN, GenerateContentRequest: { ...TURN, model: 'models/dear' } }],
    ['chat', '/v1/chat/completions', { messages: HI, Extra_Body: { model: 'dear' } }],
    ['chat', '/v1/chat/completions', { messages: HI, extra_body: { Model: 'dear' } }],
    ['chat', '/v1/chat/completions', { messages: HI, extra_body: { Plugins: { model: 'dear' } } }],
    ['chat', '/v1/chat/completions', { messages: HI, fallbacks: [{ model: 'pro', extra_body: { Model: 'dear' } }] }],
  ])(
    '%s %s: in a field of another case are refused, which some upstreams take for the same: %j',
    async (format, path, body) => {
      const { testServer, upstream } = await open(format)
      const answer = await testServer.ask(path, { model: 'pro', ...body }, VERSION_HEADERS)
      expect(answer.status).toBe(400)
      expect(answer.text).toContain('case-sensitive')
      expect(upstream.seen).toEqual([])
    },
  )

  test.each([
    ['embeddings', '/v1/embeddings', { input: 'Hi.', Input: 'x', Tools: [] }],
    ['chat', '/v1/chat/completions', { messages: HI, metadata: { Model: 'x' }, Model_Name: 'x', Requests: [] }],
    [
      'chat',
      '/v1/chat/completions',
      { messages: HI, tools: [{ type: 'function', function: { name: 'f', Model: 1 } }] },
    ],
  ])('%s %s: fields that name no models there may be written in any way: %j', async (format, path, body) => {
    const { testServer } = await open(format)
    expect((await testServer.ask(path, { model: 'pro', ...body })).status).toBe(200)
  })

  test.each([
    ['flash', 200, 'flash-002'],
    ['dear', 403, undefined],
  ])('in a request to be counted are held to the key, too: %s', async (modelName, status, upstreamName) => {
    const { testServer, asked } = await open('contents')
    const generationConfig = { routingConfig: { manualMode: { modelName } } }
    const counted = { generateContentRequest: { ...TURN, generationConfig } }
    expect((await testServer.ask(COUNT_PATH, counted)).status).toBe(status)
    expect(asked().map(({ text }) => /"modelName":"(.*?)"/.exec(text)?.[1])).toEqual(upstreamName ? [upstreamName] : [])
  })

  test('go to no upstream of another format', async () => {
    const { testServer, upstream } = await open('messages')
    await testServer.ask('/v1/chat/completions', { model: 'pro', messages: HI, models: ['flash'] })
    expect(upstream.seen[0]!.text).not.toContain('flash')
  })
})
