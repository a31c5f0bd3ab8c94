import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { readFolder } from '../../../../src/kit/recordings/folder.ts'
import { importFile } from '../../../../src/kit/recordings/foreign/import-file.ts'
import { openReplay } from '../../../../src/kit/recordings/replay-server.ts'

/* Spellings in cassettes that vcrpy wrote for real clients (2,000 cassettes of public repositories, 2026-12-01). */

async function recordingsOf(name: string, content: string) {
  const folder = mkdtempSync(join(tmpdir(), 'cassette-'))
  writeFileSync(join(folder, name), content)
  await importFile(join(folder, name), { folder: join(folder, 'recordings') })
  return readFolder(join(folder, 'recordings'))
}

const ANSWER = '{"output":{"message":{"role":"assistant","content":[{"text":"hi"}]}},"stopReason":"end_turn"}'
const BODY = '{"messages":[{"role":"user","content":[{"text":"hi"}]}]}'

test('boto3 has binary values of headers', async () => {
  const recordings = await recordingsOf(
    'boto3.yaml',
    `interactions:
- request:
    body: '${BODY}'
    headers:
      Content-Type:
      - !!binary |
        YXBwbGljYXRpb24vanNvbg==
      Authorization: !!binary QVdTNC1ITUFDLVNIQTI1NiBzZWNyZXQ=
    method: POST
    uri: https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse
  response:
    body: {string: '${ANSWER}'}
    headers: {Content-Type: [application/json]}
    status: {code: 200, message: OK}
version: 1
`,
  )
  expect(recordings[0]!.recording).toMatchObject({
    format: 'converse',
    request: { headers: { 'content-type': 'application/json' } },
  })
  expect(JSON.stringify(recordings)).not.toContain('secret')
})

test('aiohttp has methods in lower case, which it sends in upper case', async () => {
  const uri = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent'
  const body = '{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}'
  const string = '{"candidates":[{"content":{"role":"model","parts":[{"text":"hello"}]},"finishReason":"STOP"}]}'
  const response = { body: { string }, headers: { 'content-type': 'application/json' }, status: { code: 200 } }
  const cassette = { interactions: [{ request: { method: 'post', uri, body, headers: {} }, response }] }
  const recordings = await recordingsOf('aiohttp.json', JSON.stringify(cassette))
  await using replay = await openDisposable(recordings)
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(replay.url + new URL(uri).pathname, { method: 'POST', headers, body })
  expect([answer.status, await answer.text()]).toEqual([200, string])
})

/* 1,275 exchanges of 700 cassettes of crmne/ruby_llm (August 2026) are imported like these. */
describe('a cassette of VCR for Ruby', () => {
  const uri = 'https://api.openai.com/v1/chat/completions'
  const cassette = (answer: string, address = uri) => `---
http_interactions:
- request:
    method: post
    uri: ${address}
    body:
      encoding: UTF-8
      string: '{"model":"m","messages":[{"role":"user","content":"hi"}]}'
    headers:
      Authorization:
      - Bearer sk-planted-secret-1
      Content-Type:
      - application/json
  response:
    status:
      code: 200
      message: OK
    headers:
      Content-Type:
      - application/json
    body:
      encoding: ASCII-8BIT
${answer}
  recorded_at: Wed, 19 Aug 2026 14:35:01 GMT
recorded_with: VCR 6.4.0
`
  const json = '{"choices":[{"message":{"role":"assistant","content":"Grüße"},"finish_reason":"stop"}]}'
  const base64 = Buffer.from(json).toString('base64')

  test.each([
    ['a text', `      string: '${json}'`],
    ['a binary value', `      string: !binary |-\n        ${base64.slice(0, 60)}\n        ${base64.slice(60)}`],
    ['base64', `      base64_string: |\n        ${base64}`],
  ])('has its answer as %s', async (_, answer) => {
    const recordings = await recordingsOf('ruby.yml', cassette(answer))
    expect(recordings[0]!.recording).toMatchObject({ format: 'chat', recorded_at: '2026-08-19T14:35:01.000Z' })
    expect(JSON.stringify(recordings)).not.toContain('planted')
    await using replay = await openDisposable(recordings)
    const body = '{"model":"m","messages":[{"role":"user","content":"hi"}]}'
    const headers = { 'content-type': 'application/json' }
    const found = await fetch(`${replay.url}/v1/chat/completions`, { method: 'POST', headers, body })
    expect([found.status, await found.text()]).toEqual([200, json])
  })

  test('may have a placeholder as its address', async () => {
    const recordings = await recordingsOf(
      'ruby.yml',
      cassette(`      string: '${json}'`, '"<API_BASE>/chat/completions"'),
    )
    expect(recordings[0]!.recording).toMatchObject({ format: 'chat', request: { path: '/chat/completions' } })
  })
})

const BEDROCK = 'https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-lite-v1%3A0'
const OPENAI = 'https://api.openai.com/v1/chat/completions'
const interaction = (uri: string, body: string, response: object) => ({
  interactions: [{ request: { method: 'POST', uri, body, headers: {} }, response }],
})

/** A frame of an event stream of AWS. */
function frame(type: string, payload: object): Buffer {
  const header = (name: string, value: string) =>
    Buffer.from([name.length, ...Buffer.from(name), 7, 0, value.length, ...Buffer.from(value)])
  const headers = Buffer.concat([header(':event-type', type), header(':message-type', 'event')])
  const body = Buffer.from(JSON.stringify(payload))
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(16 + headers.length + body.length)
  prelude.writeUInt32BE(headers.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const content = Buffer.concat([prelude, headers, body])
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(content))
  return Buffer.concat([content, checksum])
}

describe('an answer whose headers were filtered has the type of its body', () => {
  const chat = (stream: boolean) => JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'hi' }] })
  const chunk = 'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[]}\n\n'

  test.each([
    ['application/json', OPENAI, chat(false), '{"id":"c","object":"chat.completion","choices":[]}'],
    ['text/event-stream', OPENAI, chat(true), `${chunk}data: [DONE]\n\n`],
  ])('%s', async (type, uri, body, string) => {
    const cassette = interaction(uri, body, { body: { string }, headers: {}, status: { code: 200 } })
    await using replay = await openDisposable(await recordingsOf('filtered.json', JSON.stringify(cassette)))
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${replay.url}/v1/chat/completions`, { method: 'POST', headers, body })
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual([type, string])
  })

  test('binary events of AWS', async () => {
    const bytes = Buffer.concat([frame('messageStart', { role: 'assistant' }), frame('messageStop', {})])
    const recordings = await recordingsOf(
      'filtered.yaml',
      `interactions:
- request: {method: POST, uri: '${BEDROCK}/converse-stream', body: '${BODY}', headers: {}}
  response:
    body: {string: !!binary ${bytes.toString('base64')}}
    headers: {}
    status: {code: 200}
`,
    )
    await using replay = await openDisposable(recordings)
    const path = '/model/amazon.nova-lite-v1%3A0/converse-stream'
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(replay.url + path, { method: 'POST', headers, body: BODY })
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true)
    expect(answer.headers.get('content-type')).toBe('application/vnd.amazon.eventstream')
  })
})

test('answers of httpx have other names of fields before vcrpy 6', async () => {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
  const content = '{"id":"c","object":"chat.completion","choices":[]}'
  const cassette = interaction(OPENAI, body, { content, headers: {}, http_version: 'HTTP/1.1', status_code: 201 })
  const [recording] = await recordingsOf('httpx.json', JSON.stringify(cassette))
  expect(recording!.recording.answer).toMatchObject({ status: 201, body: { json: { id: 'c' } } })
})

async function openDisposable(recordings: Awaited<ReturnType<typeof recordingsOf>>) {
  const replay = await openReplay({ recordings, port: 0 })
  return { url: replay.url, [Symbol.asyncDispose]: () => replay.close() }
}

test.each([
  ['version 1', 'status: 200 OK\n    code: 200', ''],
  ['version 2', 'status: 200 OK\n    code: 200\n    duration: 2.397934s\n    uncompressed: true', 'proto: HTTP/1.1'],
])('go-vcr has names of its own: %s', async (_, status, request) => {
  const body = '{"model":"m","messages":[{"role":"user","content":"hi"}]}'
  const answer = '{"id":"a","object":"chat.completion","choices":[]}'
  const recordings = await recordingsOf(
    'go.yaml',
    `version: 2
interactions:
- id: 0
  request:
    ${request}
    body: '${body}'
    form: {}
    headers: {Content-Type: [application/json], Authorization: [Bearer sk-secret-12345678]}
    url: https://api.openai.com/v1/chat/completions
    method: POST
  response:
    body: '${answer}'
    headers: {Content-Type: [application/json]}
    ${status}
`,
  )
  expect(JSON.stringify(recordings)).not.toContain('sk-secret')
  await using replay = await openDisposable(recordings)
  const headers = { 'content-type': 'application/json' }
  const reply = await fetch(`${replay.url}/v1/chat/completions`, { method: 'POST', headers, body })
  expect([reply.status, await reply.text()]).toEqual([200, answer])
})
