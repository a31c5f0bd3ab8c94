import { afterEach, expect, test } from 'vitest'
import { House } from './house.ts'
import { channelAt, FakeUpstream } from './upstream.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const PDF = '%PDF-1.7 a document'

async function between(allow: readonly string[]) {
  const pages = await FakeUpstream.open(response =>
    response.writeHead(200, { 'content-type': 'application/pdf' }).end(PDF),
  )
  const asked: unknown[] = []
  const upstream = await FakeUpstream.open((response, { text }) => {
    asked.push(JSON.parse(text))
    const message = { role: 'assistant', content: 'Read.', refusal: null }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ id: 'c', model: 'm', created: 1, choices: [{ index: 0, message, finish_reason: 'stop' }] }))
  })
  const house = await House.open([channelAt(upstream.address)], { allow })
  closing.push(
    () => house.server.close(),
    () => upstream.close(),
    () => pages.close(),
  )
  const body = {
    model: 'm',
    max_tokens: 10,
    messages: [
      { role: 'user', content: [{ type: 'document', source: { type: 'url', url: `${pages.address}/a.pdf` } }] },
    ],
  }
  const answer = await house.ask('/v1/messages', body, { headers: { 'anthropic-version': '2023-06-01' } })
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
  const pages = await FakeUpstream.open(response =>
    response.writeHead(200, { 'content-type': 'image/png' }).end('a picture'),
  )
  const upstream = await FakeUpstream.open(response =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"candidates":[{"content":{"role":"model","parts":[{"text":"Seen."}]},"finishReason":"STOP"}]}'),
  )
  const house = await House.open([channelAt(upstream.address, { format: 'contents' })], { allow: ['127.0.0.0/8'] })
  closing.push(
    () => house.server.close(),
    () => upstream.close(),
    () => pages.close(),
  )
  const image = { type: 'image', source: { type: 'url', url: `${pages.address}/a.png` } }
  const messages = [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [image] }] },
  ]
  const body = { model: 'm', max_tokens: 10, messages }
  const answer = await house.ask('/v1/messages', body, { headers: { 'anthropic-version': '2023-06-01' } })
  expect(answer.status, answer.text).toBe(200)
  const { parts } = JSON.parse(upstream.seen[0]!.text).contents.at(-1).parts[0].functionResponse
  expect(parts).toEqual([{ inlineData: { mimeType: 'image/png', data: Buffer.from('a picture').toString('base64') } }])
})
