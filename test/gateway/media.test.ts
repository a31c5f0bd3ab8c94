import { expect, test } from 'vitest'
import { PRESETS } from '../../src/formats/presets.ts'
import { channelAt } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'

const { openGateway, openUpstream } = opener()

const PDF = '%PDF-1.7 a document'
const PICTURE = Buffer.from('\x89PNG\r\n\x1a\n a picture', 'latin1')

async function between(allow: readonly string[]) {
  const pages = await openUpstream(response => response.writeHead(200, { 'content-type': 'application/pdf' }).end(PDF))
  const asked: unknown[] = []
  const upstream = await openUpstream((response, { text }) => {
    asked.push(JSON.parse(text))
    const message = { role: 'assistant', content: 'Read.', refusal: null }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ id: 'c', model: 'm', created: 1, choices: [{ index: 0, message, finish_reason: 'stop' }] }))
  })
  const testServer = await openGateway([channelAt(upstream.address)], { allow })
  const body = {
    model: 'm',
    max_tokens: 10,
    messages: [
      { role: 'user', content: [{ type: 'document', source: { type: 'url', url: `${pages.address}/a.pdf` } }] },
    ],
  }
  const answer = await testServer.ask('/v1/messages', body, { headers: { 'anthropic-version': '2023-06-01' } })
  return { answer, asked }
}

test('trap 50: a document at an address reaches an upstream that wants bytes as bytes', async () => {
  const { answer, asked } = await between(['127.0.0.0/8'])
  expect(answer.status).toBe(200)
  expect(JSON.stringify(asked)).toContain(`data:application/pdf;base64,${Buffer.from(PDF).toString('base64')}`)
})

test('trap 50: no document is fetched from inside', async () => {
  const { answer, asked } = await between([])
  expect(answer.status).toBe(400)
  expect(answer.text).toContain('Media is not fetched from this address.')
  expect(asked).toEqual([])
})

test('trap 48: a picture at an address in the result of a tool reaches Gemini as bytes', async () => {
  const pages = await openUpstream(response => response.writeHead(200, { 'content-type': 'image/png' }).end(PICTURE))
  const upstream = await openUpstream(response =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"candidates":[{"content":{"role":"model","parts":[{"text":"Seen."}]},"finishReason":"STOP"}]}'),
  )
  const testServer = await openGateway([channelAt(upstream.address, { format: 'contents' })], {
    allow: ['127.0.0.0/8'],
  })
  const image = { type: 'image', source: { type: 'url', url: `${pages.address}/a.png` } }
  const messages = [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [image] }] },
  ]
  const body = { model: 'm', max_tokens: 10, messages }
  const answer = await testServer.ask('/v1/messages', body, { headers: { 'anthropic-version': '2023-06-01' } })
  expect(answer.status, answer.text).toBe(200)
  const { parts } = JSON.parse(upstream.seen[0]!.text).contents.at(-1).parts[0].functionResponse
  expect(parts).toEqual([{ inlineData: { mimeType: 'image/png', data: PICTURE.toString('base64') } }])
})

test('trap 50: what cannot be fetched for one channel goes by its address to the next that takes addresses', async () => {
  let fetched = 0
  const pages = await openUpstream(response => {
    fetched++
    response.writeHead(404).end()
  })
  const blind = await openUpstream(response => response.writeHead(500).end())
  const upstream = await openUpstream(response => {
    const message = { role: 'assistant', content: 'Seen.', refusal: null }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ id: 'c', model: 'm', created: 1, choices: [{ index: 0, message, finish_reason: 'stop' }] }))
  })
  const fetching = channelAt(blind.address, { format: 'contents' })
  const formats = [{ ...fetching.formats[0]!, dialect: { fetch_urls: true } }]
  const channels = [
    { ...fetching, formats },
    { ...fetching, formats, name: 'another', priority: 1 },
    channelAt(upstream.address, { name: 'seeing', priority: 2 }),
  ]
  const testServer = await openGateway(channels, { allow: ['127.0.0.0/8'] })
  const alone = await openGateway(channels.slice(0, 2), { allow: ['127.0.0.0/8'] })
  const url = `${pages.address}/a.png`
  const content = [{ type: 'image', source: { type: 'url', url } }]
  const body = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content }] }
  const headers = { 'anthropic-version': '2023-06-01' }
  const answer = await testServer.ask('/v1/messages', body, { headers })
  expect(answer.status, answer.text).toBe(200)
  expect(JSON.parse(upstream.seen[0]!.text).messages[0].content).toEqual([{ type: 'image_url', image_url: { url } }])
  expect(blind.seen).toEqual([])
  expect(fetched).toBe(1)
  const refused = await alone.ask('/v1/messages', body, { headers })
  expect(refused.status).toBe(400)
  expect(refused.text).toContain('its server answered 404')
})

const VERSION = { headers: { 'anthropic-version': '2023-06-01' } }
const DATA_URL = `data:image/png;base64,${PICTURE.toString('base64')}`

/** Requests with an image at an address, as callers of each format write them, and the paths of their formats. */
const WITH_IMAGE: { readonly [format: string]: readonly [path: string, content: (url: string) => object] } = {
  chat: [
    '/v1/chat/completions',
    url => ({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] }),
  ],
  responses: [
    '/v1/responses',
    url => ({ input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] }),
  ],
  messages: [
    '/v1/messages',
    url => ({
      max_tokens: 10,
      messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }],
    }),
  ],
}

const FORMATS = Object.keys(WITH_IMAGE)

test.each(FORMATS.flatMap(to => FORMATS.map(from => [from, to] as const)))(
  'trap 50: an image at an address from a caller of %s reaches an upstream of %s without addresses as bytes',
  async (from, to) => {
    const pages = await openUpstream(response => response.writeHead(200, { 'content-type': 'image/png' }).end(PICTURE))
    const upstream = await openUpstream(response => response.writeHead(400).end('{}'))
    const { formats, ...channel } = channelAt(upstream.address, { format: to })
    const dialect = { fetch_urls: true }
    const server = await openGateway([{ ...channel, formats: [{ ...formats[0]!, dialect }] }], {
      allow: ['127.0.0.0/8'],
    })
    const [path, content] = WITH_IMAGE[from]!
    await server.ask(path, { model: 'm', ...content(`${pages.address}/a.png`) }, VERSION)
    expect(upstream.seen[0]!.text).toContain(to === 'messages' ? PICTURE.toString('base64') : DATA_URL)
    expect(upstream.seen[0]!.text).not.toContain(pages.address)
  },
)

test('trap 50: Claude gets an image at an address without TLS as bytes, because it refuses such addresses', async () => {
  const pages = await openUpstream(response => response.writeHead(200, { 'content-type': 'image/png' }).end(PICTURE))
  const upstream = await openUpstream(response => response.writeHead(400).end('{}'))
  const server = await openGateway([channelAt(upstream.address, { format: 'messages' })], { allow: ['127.0.0.0/8'] })
  const [path, content] = WITH_IMAGE['chat']!
  await server.ask(path, { model: 'm', ...content(`${pages.address}/a.png`) }, VERSION)
  expect(upstream.seen[0]!.text).toContain(PICTURE.toString('base64'))
})

test.each([
  ...[['ollama', 'chat'] as const, ['ollama', 'responses'] as const, ['ollama', 'messages'] as const],
  ...(['bedrock', 'bedrock-invoke', 'bedrock-mantle', 'vertex-claude'] as const).map(
    name => [name, 'messages'] as const,
  ),
])('media of %s in %s are fetched', (name, format) => {
  const { dialect } = PRESETS.get(name)!.formats.find(one => one.format === format)!
  expect(dialect).toMatchObject({ fetch_urls: true })
})
