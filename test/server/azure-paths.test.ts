import { request } from 'node:http'
import { AzureOpenAI, toFile } from 'openai'
import { describe, expect, test } from 'vitest'
import { ANSWER, ASK, chunk, events, HEAD, json, STREAM, TAIL } from '../builders/chat.ts'
import { KEY } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import type { Script } from '../builders/upstream.ts'

/* Clients of Azure OpenAI, of its older API and of v1, and Groq's SDKs, which use the same prefix. */

const { open } = opener()

const CHAT: Script = (response, { text }) =>
  JSON.parse(text).stream === true
    ? void events(response).end(`${HEAD}${chunk({ content: 'Hello.' })}${TAIL}`)
    : json(response, ANSWER)

const azure = (endpoint: string, deployment?: string) =>
  new AzureOpenAI({ endpoint, deployment, apiKey: KEY, apiVersion: '2024-10-21', maxRetries: 0 })

const AZURE_KEY = { headers: { authorization: '', 'api-key': KEY } }

describe('clients of Azure OpenAI', () => {
  test('request the deployment that they are set up for, whole and streamed', async () => {
    const { testServer, upstream } = await open(CHAT)
    const client = azure(testServer.server.address, 'm')
    const whole = await client.chat.completions.create({ ...ASK, model: 'ignored' } as never)
    expect(whole).toMatchObject({ choices: [{ message: { content: 'Hello.' } }] })
    const stream = await client.chat.completions.create({ ...STREAM, model: 'ignored' } as never)
    let said = ''
    for await (const { choices } of stream as unknown as AsyncIterable<{
      choices: { delta: { content?: string } }[]
    }>)
      said += choices[0]?.delta.content ?? ''
    expect(said).toBe('Hello.')
    expect(upstream.seen.map(({ text }) => JSON.parse(text).model)).toEqual(['m', 'm'])
    expect(upstream.seen.map(({ url }) => url)).toEqual(['/v1/chat/completions', '/v1/chat/completions'])
  })

  test('upload recordings, although the form names another model', async () => {
    const { testServer, upstream } = await open(
      response => json(response, { text: 'Hi.' }),
      {},
      { format: 'transcriptions' },
    )
    const file = await toFile(Buffer.alloc(100), 'a.wav')
    const client = azure(testServer.server.address, 'm')
    expect(await client.audio.transcriptions.create({ file, model: 'ignored' })).toMatchObject({ text: 'Hi.' })
    expect(upstream.seen[0]!.text).toMatch(/name="model"\r\n\r\nm\r\n/)
  })

  test.each(['/openai/v1/chat/completions', '/openai/chat/completions?api-version=2025-04-01-preview'])(
    'use OpenAI’s paths below the prefix: %s',
    async path => {
      const { testServer, upstream } = await open(CHAT)
      const { json: answer } = await testServer.ask(path, ASK, AZURE_KEY)
      expect(answer).toMatchObject({ choices: [{ message: { content: 'Hello.' } }] })
      expect(upstream.seen[0]!.url).toBe('/v1/chat/completions')
    },
  )

  test('list models and use the Responses API', async () => {
    const { testServer } = await open(CHAT, {}, { models: { named: new Map([['m', 'm']]), patterns: [] } })
    const client = azure(testServer.server.address)
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['m'])
    expect(await client.responses.create({ model: 'm', input: 'Hi' })).toMatchObject({ output_text: 'Hello.' })
  })

  test('open voice sessions of a deployment', async () => {
    const { testServer } = await open(CHAT)
    const upgrade = request(
      `${testServer.server.address}/openai/realtime?api-version=2024-10-01-preview&deployment=x`,
      {
        headers: {
          ...{ 'api-key': KEY, connection: 'Upgrade', upgrade: 'websocket' },
          ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
        },
      },
    )
    const refused = new Promise<string>((resolve, reject) =>
      upgrade.on('error', reject).on('response', answer => answer.on('data', data => resolve(String(data)))),
    )
    upgrade.end()
    expect(await refused).toContain('The model \\"x\\" does not exist here.')
  })

  test.each([
    ['POST', '/openai/deployments/m/responses', 404],
    ['POST', '/openai/deployments/m', 404],
    ['POST', '/openai/deployments/..%2F../chat/completions', 400],
    ['GET', '/openai/deployments/m/chat/completions', 405],
  ])('%s %s is refused with %i', async (method, path, status) => {
    const { testServer, upstream } = await open(CHAT)
    const body = method === 'GET' ? undefined : ASK
    const answer = await testServer.ask(path, body, { method })
    expect(answer.status).toBe(status)
    expect(answer.json.error.message).toEqual(expect.any(String))
    expect(upstream.seen).toEqual([])
  })

  test('do not reach a model that their key may not use', async () => {
    const { testServer, upstream } = await open(CHAT, { group: { models: ['other'] } })
    const { status } = await testServer.ask('/openai/deployments/m/chat/completions', { ...ASK, model: 'other' })
    expect(status).toBe(403)
    expect(upstream.seen).toEqual([])
  })
})
