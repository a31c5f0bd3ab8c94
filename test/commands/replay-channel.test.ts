import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ReplayFolders } from '../../src/commands/replay-folders.ts'
import { readConfig } from '../../src/config/read.ts'
import { openRecordProxy } from '../../src/kit/recordings/record-proxy.ts'
import { Recorder } from '../../src/kit/recordings/recorder.ts'
import { KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'

const folder = mkdtempSync(join(tmpdir(), 'channel-'))
const QUESTION = [{ role: 'user' as const, content: 'What is the weather?' }]
const replays = new ReplayFolders()
let gateway: TestServer

const channelOf = (more: string): string =>
  `channels: [{ name: recorded, provider: replay, folder: "${folder}" ${more} }]`

/** Records an OpenAI SDK program: a whole answer, a stream, and one question with two answers. */
async function record(): Promise<void> {
  let count = 0
  const upstream = await FakeUpstream.open((response, { text }) => {
    const { stream, messages } = JSON.parse(text) as { stream?: boolean; messages: readonly { content: string }[] }
    const base = { id: 'c1', created: 1, model: 'weather-1' }
    const content = messages[0]!.content === 'Again?' ? `Answer ${++count}` : 'Sunny.'
    if (stream !== true) {
      const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ ...base, object: 'chat.completion', choices }))
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const event = (delta: object, finish_reason: string | null = null): string =>
      `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    for (const one of ['Sun', 'ny.']) response.write(event({ content: one }))
    return response.end(`${event({}, 'stop')}data: [DONE]\n\n`)
  })
  const recorder = new Recorder({ folder, warn: message => expect.fail(message) })
  const proxy = await openRecordProxy({ upstream: upstream.address, recorder })
  const client = new OpenAI({ apiKey: 'sk-recorded-1234', baseURL: `${proxy.url}/v1`, maxRetries: 0 })
  await client.chat.completions.create({ model: 'weather-1', messages: QUESTION })
  for (let time = 0; time < 2; time++)
    await client.chat.completions.create({ model: 'weather-1', messages: [{ role: 'user', content: 'Again?' }] })
  await proxy.close()
  await upstream.close()
}

beforeAll(async () => {
  await record()
  const config = await replays.applyTo(readConfig(channelOf(''), {}))
  gateway = await TestServer.open(config.channels)
})
afterAll(async () => {
  await gateway.server.close()
  await replays.close()
})

const anthropic = (headers: Record<string, string> = {}): Anthropic =>
  new Anthropic({ apiKey: KEY, baseURL: gateway.server.address, maxRetries: 0, defaultHeaders: headers })

describe('a channel that answers from a folder of recordings', () => {
  test('has the models of the recordings', async () => {
    const list = await gateway.ask('/v1/models', undefined, { method: 'GET' })
    expect((list.json as { data: readonly { id: string }[] }).data.map(({ id }) => id)).toEqual(['weather-1'])
  })

  test('answers an Anthropic SDK program from a recording in chat format, whole and streamed', async () => {
    const ask = { model: 'weather-1', max_tokens: 100, messages: QUESTION }
    expect((await anthropic().messages.create(ask)).content).toMatchObject([{ type: 'text', text: 'Sunny.' }])
    const streamed = await anthropic().messages.stream(ask).finalMessage()
    expect([streamed.content, streamed.stop_reason]).toMatchObject([[{ text: 'Sunny.' }], 'end_turn'])
  })

  test('answers the recorded program itself, equal requests in their order per scope', async () => {
    const texts = async (scope: string): Promise<(string | null)[]> => {
      const client = new OpenAI({
        ...{ apiKey: KEY, baseURL: `${gateway.server.address}/v1`, maxRetries: 0 },
        defaultHeaders: { 'interlingua-replay-scope': scope },
      })
      const answers: (string | null)[] = []
      for (let time = 0; time < 2; time++) {
        const messages = [{ role: 'user' as const, content: 'Again?' }]
        const { choices } = await client.chat.completions.create({ model: 'weather-1', messages })
        answers.push(choices[0]!.message.content)
      }
      return answers
    }
    expect(await Promise.all([texts('a'), texts('b')])).toEqual([
      ['Answer 1', 'Answer 2'],
      ['Answer 1', 'Answer 2'],
    ])
  })

  test('a changed prompt fails with the nearest recording and a diff; the model does not rest', async () => {
    const ask = (content: string) =>
      anthropic().messages.create({ model: 'weather-1', max_tokens: 100, messages: [{ role: 'user', content }] })
    const missed = await ask('What is the time?').catch((fault: unknown) => fault)
    expect(missed).toBeInstanceOf(Anthropic.NotFoundError)
    const { message } = missed as Error
    expect(message).toContain('No recording matches POST /v1/messages')
    expect(message).toContain('- messages.0.content.0.text: \\"What is the weather?\\"')
    expect(message).toContain('+ messages.0.content.0.text: \\"What is the time?\\"')
    expect((await ask(QUESTION[0]!.content)).content).toMatchObject([{ text: 'Sunny.' }])
  })

  test('takes a list of models, under other names too', async () => {
    const config = await replays.applyTo(readConfig(channelOf(', models: { weather: weather-1 }'), {}))
    const other = await TestServer.open(config.channels)
    const answer = await other.ask('/v1/chat/completions', { model: 'weather', messages: QUESTION })
    await other.server.close()
    expect(answer.json).toMatchObject({ model: 'weather', choices: [{ message: { content: 'Sunny.' } }] })
  })
})

describe('the setting `folder`', () => {
  test('belongs to the provider replay and names an existing folder', () => {
    const config = (provider: string, name: string): string =>
      `channels: [{ name: a, provider: ${provider}, key: k, folder: "${name}" }]`
    expect(() => readConfig(config('openai', folder), {})).toThrow('has no effect with the provider "openai"')
    expect(() => readConfig(config('replay', '/nowhere/at-all'), {})).toThrow('there is no folder /nowhere/at-all')
  })

  test('with a file that is no recording fails with file and line, and is read again by the next config', async () => {
    const broken = mkdtempSync(join(tmpdir(), 'broken-'))
    const text = '{\n  "version": 1,\n  "program": 7\n}'
    writeFileSync(join(broken, 'a.json'), text)
    const config = readConfig(`channels: [{ name: a, provider: replay, folder: "${broken}" }]`, {})
    await expect(replays.applyTo(config)).rejects.toThrow(/a\.json:3: program: expected a string/)
    writeFileSync(join(broken, 'a.json'), '')
    await expect(replays.applyTo(config)).rejects.toThrow(/a\.json: is empty/)
    expect(readdirSync(broken)).toEqual(['a.json'])
  })
})
