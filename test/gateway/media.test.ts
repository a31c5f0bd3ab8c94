import { expect, test } from 'vitest'
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
