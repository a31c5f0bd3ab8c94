import type { ServerResponse } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { ASK, events, HEAD, json, STREAM, TAIL, words } from '../builders/chat.ts'
import { channelAt, KEY, type TestServerOptions } from '../builders/config.ts'
import { dataOf, VERSION_HEADERS } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { TIMED, until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'

const { open: openBefore, openGateway, openUpstream } = opener()

const HEARTBEAT = 150
const MESSAGES = { ...STREAM, max_tokens: 9 }
const CONTENTS = { contents: [{ parts: [{ text: 'Say hello.' }] }] }

const open = (script: Script, options: TestServerOptions = {}) =>
  openBefore(script, { heartbeat: HEARTBEAT, ...options })

const delayed = (milliseconds: number, answer: (response: ServerResponse) => void): Script => {
  return response => void setTimeout(() => answer(response), milliseconds)
}
const hello = (response: ServerResponse) => void events(response).end(`${HEAD}${words('Hello.')}${TAIL}`)
const busy = (response: ServerResponse) => json(response, { error: { message: 'Too busy.' } }, 503)
describe('an upstream that says nothing for a while', TIMED, () => {
  test.each([
    ['chat', CHAT_PATH, STREAM, ': ping\n\n', '"Hello."'],
    ['responses', '/v1/responses', { model: 'm', input: 'Hi.', stream: true, store: false }, ': ping\n\n', 'Hello.'],
    ['messages', '/v1/messages', MESSAGES, ': ping\n\n', 'Hello.'],
    ['contents', '/v1beta/models/m:streamGenerateContent?alt=sse', CONTENTS, ': ping\n\n', 'Hello.'],
    ['contents as an array', '/v1beta/models/m:streamGenerateContent', CONTENTS, '\n', 'Hello.'],
  ])('keeps no caller of %s in silence', async (_, path, body, sign, word) => {
    let answering = (): void => {}
    const { testServer } = await open(response => (answering = () => hello(response)))
    const answer = await testServer.send(path, body, VERSION_HEADERS).answer
    setTimeout(answering, HEARTBEAT * 3)
    let text = ''
    for await (const piece of answer) text += piece
    expect(text.startsWith(sign)).toBe(true)
    expect(text).toContain(word)
    if (answer.headers['content-type']!.includes('json')) expect(() => JSON.parse(text)).not.toThrow()
  })

  test('sends the head with the first heartbeat, not the second', async () => {
    const { testServer } = await open(delayed(HEARTBEAT * 20, hello))
    const began = performance.now()
    const { out, answer } = testServer.send(CHAT_PATH, STREAM)
    const first = await new Promise<Buffer>((read, failed) =>
      answer.then(message => message.on('error', () => {}).once('data', read)).catch(failed),
    )
    out.destroy()
    expect(String(first)).toBe(': ping\n\n')
    expect(performance.now() - began).toBeLessThan(HEARTBEAT * 1.8)
  })

  test('shows what was lost all the same', async () => {
    const { testServer } = await open(delayed(HEARTBEAT * 3, hello))
    const { headers } = await testServer.ask('/v1/messages', { ...MESSAGES, top_k: 3 }, VERSION_HEADERS)
    expect(headers['interlingua-loss']).toContain('no-top-k')
  })

  test('and then fails: the error is the last event', async () => {
    const { testServer } = await open(delayed(HEARTBEAT * 3, busy))
    const { status, text } = await testServer.ask(CHAT_PATH, STREAM)
    expect(status).toBe(200)
    expect(JSON.parse(dataOf(text).at(-1)!).error.message).toEqual(expect.any(String))
    expect(text).not.toContain('finish_reason":"stop')
    const line = testServer.lines.find(({ message }) => message === 'request')!
    expect(line.fields).toMatchObject({ error: 'overloaded', attempts: 1 })
  })

  test.each([
    ['messages', '/v1/messages', MESSAGES, 'event: error\n'],
    ['responses', '/v1/responses', { model: 'm', input: 'Hi.', stream: true }, 'event: response.failed\n'],
    ['contents', '/v1beta/models/m:streamGenerateContent?alt=sse', CONTENTS, '"error":{'],
  ])('and then fails: in the words of %s', async (_, path, body, words) => {
    const { testServer } = await open(delayed(HEARTBEAT * 3, busy))
    const { status, text } = await testServer.ask(path, body, VERSION_HEADERS)
    expect(status).toBe(200)
    expect(text).toContain(words)
  })

  test('and then closes: the error is the last event', async () => {
    const { testServer } = await open(delayed(HEARTBEAT * 3, response => response.destroy()))
    const { text } = await testServer.ask(CHAT_PATH, STREAM)
    expect(JSON.parse(dataOf(text).at(-1)!).error.message).toEqual(expect.any(String))
  })

  test('ends failover, which a quick failure does not', async () => {
    const slow = await openUpstream(delayed(HEARTBEAT * 3, busy))
    const quick = await openUpstream(busy)
    const spare = await openUpstream(hello)
    for (const [first, found] of [[slow, false] as const, [quick, true] as const]) {
      const testServer = await openGateway(
        [channelAt(first.address), channelAt(spare.address, { name: 'spare', priority: 1 })],
        { heartbeat: HEARTBEAT },
      )
      expect((await testServer.ask(CHAT_PATH, STREAM)).text.includes('Hello.')).toBe(found)
    }
    expect(spare.seen).toHaveLength(1)
  })

  test('keeps whoever asked for a whole answer waiting, and everybody where it is switched off', async () => {
    const { testServer } = await open(delayed(HEARTBEAT * 3, busy))
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(503)
    const off = await open(delayed(HEARTBEAT * 3, busy), { earlyHead: false })
    expect((await off.testServer.ask(CHAT_PATH, STREAM)).status).toBe(503)
  })

  test('and a caller that leaves meanwhile: the upstream is let go', async () => {
    const { testServer, upstream } = await open(() => {})
    const { out, answer } = testServer.send(CHAT_PATH, STREAM)
    await answer
    out.destroy()
    await until(() => upstream.seen[0]?.brokenAt !== undefined)
    await until(() => testServer.lines.some(({ message, fields }) => message === 'request' && fields['status'] === 499))
  })
})

describe('clients', TIMED, () => {
  test('of OpenAI read what follows', async () => {
    const { testServer } = await open(delayed(HEARTBEAT * 4, hello))
    const openai = new OpenAI({ apiKey: KEY, baseURL: `${testServer.server.address}/v1`, maxRetries: 0 })
    let text = ''
    for await (const chunk of await openai.chat.completions.create({ model: 'm', messages: [], stream: true }))
      text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe('Hello.')
    const stream = openai.responses.stream({ model: 'm', input: 'Hi.' })
    expect((await stream.finalResponse()).output_text).toBe('Hello.')
  })

  test('of Anthropic read what follows, and know an error for one', async () => {
    let answer: (response: ServerResponse) => unknown = hello
    const { testServer } = await open(response => void setTimeout(() => answer(response), HEARTBEAT * 4))
    const anthropic = new Anthropic({ apiKey: KEY, baseURL: testServer.server.address, maxRetries: 0 })
    const ask = () =>
      anthropic.messages.stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi.' }] })
    expect(await ask().finalText()).toBe('Hello.')
    answer = busy
    await expect(ask().finalText()).rejects.toThrow(Anthropic.APIError)
  })
})
