import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { examplesOfFixtures } from '../../../building/demo/examples.ts'
import { demoRecordings } from '../../../building/demo/index.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { readConfig } from '../../../src/config/read.ts'
import { examples } from '../../../src/kit/examples.ts'
import { readRecordingFile } from '../../../src/kit/recordings/file.ts'
import { readRequest } from '../../../src/kit/recordings/read-request.ts'
import { DEMO_FOLDER, demoChannels } from '../../../src/upstreams/replay-channels.ts'
import { type Demo, openDemo } from '../../builders/demo.ts'

let demo: Demo
beforeAll(async () => {
  demo = await openDemo()
})
afterAll(() => demo.close())

const VERSION = { 'anthropic-version': '2023-06-01' }

const post = (path: string, body: unknown): Promise<Response> =>
  fetch(demo.url + path, { method: 'POST', body: JSON.stringify(body), headers: VERSION })

const user = [{ role: 'user', content: 'Hi.' }]
const contents = { contents: [{ parts: [{ text: 'Hi.' }] }] }
const messages = { model: 'replay', max_tokens: 9, messages: user }

test('the files of the demo are what the fixtures make (`npm run demo`)', () => {
  const made = demoRecordings()
  const files = readdirSync(DEMO_FOLDER, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.json'))
  expect(files.sort()).toEqual([...made.keys()].sort())
  for (const [file, recording] of made) expect(readRecordingFile(join(DEMO_FOLDER, file)), file).toEqual(recording)
})

test('the examples of the translator are what the fixtures make (`npm run demo`)', async () => {
  expect(examples()).toEqual(await examplesOfFixtures())
})

test('every request of the demo can be read in its format', () => {
  for (const [file, { format, request }] of demoRecordings())
    if (format !== undefined) expect(readRequest(request)?.route.format, file).toBe(format)
})

describe('the demo', () => {
  it('refuses a body nested too deeply, and lives on', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const body = `{"model":"replay","messages":[],"x":${deep}}`
    const response = await fetch(`${demo.url}/v1/chat/completions`, { method: 'POST', body })
    expect(response.status).toBeGreaterThanOrEqual(400)
    expect((await post('/v1/chat/completions', { model: 'replay', messages: user })).status).toBe(200)
  })

  it.each([
    ['/v1/chat/completions', { model: 'replay', messages: user }, 'choices'],
    ['/v1/responses', { model: 'replay', input: 'Hi.' }, 'output'],
    ['/v1/messages', messages, 'content'],
    ['/v1beta/models/replay:generateContent', contents, 'candidates'],
    ['/v1/models/a/b:generateContent', contents, 'candidates'],
    ['/v1/rerank', { model: 'replay', query: 'q', documents: ['a'] }, 'results'],
    ['/v2/rerank', { model: 'replay', query: 'q', documents: ['a'] }, 'results'],
    ['/v2/embed', { model: 'replay', texts: ['a'], input_type: 'clustering' }, 'embeddings'],
  ])('answers any request at %s whole', async (path, body, field) => {
    const response = await post(path, body)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(await response.json()).toHaveProperty(field)
  })

  it.each([
    ['/v1/chat/completions', { model: 'replay', messages: user, stream: true }, 'data: [DONE]'],
    ['/v1/responses', { model: 'replay', input: 'Hi.', stream: true }, 'event: response.completed'],
    ['/v1/messages', { ...messages, stream: true }, 'event: message_stop'],
    ['/v1beta/models/replay:streamGenerateContent?alt=sse', contents, '"finishReason":"STOP"'],
  ])('streams %s', async (path, body, sign) => {
    const response = await post(path, body)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(await response.text()).toContain(sign)
  })

  it('streams contents as a JSON list to callers that request no events', async () => {
    const list = (await (await post('/v1beta/models/replay:streamGenerateContent', contents)).json()) as JsonObject[]
    expect(list.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }] })
  })

  it('ranks the documents and embeds the texts there are, however many were recorded', async () => {
    const ranking = async (path: string, count: number, more = {}) => {
      const documents = Array.from({ length: count }, () => 'a')
      const body = { model: 'replay', query: 'q', documents, ...more }
      return (await (await post(path, body)).json()) as { results: { index: number }[] }
    }
    for (const path of ['/v1/rerank', '/v2/rerank']) {
      expect((await ranking(path, 1)).results.map(({ index }) => index)).toEqual([0])
      expect((await ranking(path, 4)).results.map(({ index }) => index).sort()).toEqual([0, 1, 2, 3])
      expect((await ranking(path, 4, { top_n: 1 })).results).toHaveLength(1)
    }
    const asked = { model: 'replay', texts: ['a', 'b', 'c'], input_type: 'clustering' }
    const { embeddings } = (await (await post('/v2/embed', asked)).json()) as { embeddings: { float: number[][] } }
    expect(embeddings.float).toHaveLength(3)
  })

  it.each([
    ['/v1/chat/completions', { model: 'replay-chat-parallel-tools', messages: user }],
    ['/v1/chat/completions', { model: 'replay-chat-parallel-tools', messages: user, stream: true }],
    ['/v1/responses', { model: 'replay-responses-reasoning', input: 'Hi.' }],
    ['/v1/responses', { model: 'replay-responses-tool-call', input: 'Hi.', stream: true }],
    ['/v1/responses/compact', { model: 'replay', input: 'Hi.' }],
    ['/v1/messages', { ...messages, model: 'replay-messages-tool-call' }],
    ['/v1/messages', { ...messages, model: 'replay-messages-tool-call', stream: true }],
    ['/v1/completions', { model: 'replay', prompt: 'Hi.' }],
    ['/v1beta/models/replay:generateContent', contents],
    ['/v1beta/models/replay:streamGenerateContent', contents],
    ['/v2/rerank', { model: 'replay', query: 'q', documents: ['a'] }],
  ])('answers %s under ids of its own each time: %j', async (path, body) => {
    const withoutEndings = (text: string) => text.replaceAll(/_replay[0-9a-f]{12}/g, '')
    const names = (text: string) =>
      [...text.matchAll(/"(?:id|item_id|call_id|responseId)": ?"([^"]+)"/g)].map(one => one[1]!)
    const [first, second] = [await (await post(path, body)).text(), await (await post(path, body)).text()]
    const [ours, theirs] = [names(first), names(second)]
    expect(ours.length).toBeGreaterThan(0)
    expect(ours.filter(name => theirs.includes(name))).toEqual([])
    expect(ours.map(withoutEndings)).toEqual(theirs.map(withoutEndings))
    expect(new Set(ours).size).toBe(new Set(ours.map(withoutEndings)).size)
    expect(withoutEndings(first)).toBe(withoutEndings(second))
  })

  it('calls a tool that is offered, and answers in words once the tool has answered', async () => {
    const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } })
    const finish = async (turns: readonly object[], ...names: string[]): Promise<string> => {
      const body = { model: 'replay', messages: turns, tools: names.map(tool) }
      const { choices } = (await (await post('/v1/chat/completions', body)).json()) as {
        choices: { finish_reason: string }[]
      }
      return choices[0]!.finish_reason
    }
    expect(await finish(user, 'get_weather', 'other')).toBe('tool_calls')
    expect(await finish(user, 'something_else')).toBe('stop')
    const call = { id: 'c', type: 'function', function: { name: 'get_weather', arguments: '{}' } }
    const turns = [
      ...user,
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: '21' },
    ]
    expect(await finish(turns, 'get_weather')).toBe('stop')
  })

  it('lists its models in every shape', async () => {
    const list = (await (await fetch(`${demo.url}/v1/models?limit=100`)).json()) as { data: { id: string }[] }
    expect(list.data.map(({ id }) => id)).toEqual(expect.arrayContaining(['replay', 'replay-chat-hello']))
    const { models } = (await (await fetch(`${demo.url}/v1beta/models`)).json()) as { models: unknown[] }
    expect(models).toContainEqual({ name: 'models/replay' })
  })

  it('refuses what it does not know', async () => {
    expect((await post('/v1/nothing', {})).status).toBe(404)
    expect((await fetch(`${demo.url}/v1/chat/completions`)).status).toBe(404)
    const broken = await fetch(`${demo.url}/v1/messages`, { method: 'POST', body: '{' })
    expect(broken.status).toBe(404)
  })
})

describe('the channels of the demo', () => {
  it('answer `replay` natively everywhere, and each fixture by a channel of its format alone', () => {
    const [whole, ...others] = demo.channels
    const formats = whole!.formats.map(({ format }) => format)
    expect(formats).toEqual(expect.arrayContaining(['chat', 'messages', 'contents', 'responses', 'speech', 'videos']))
    expect(others.map(({ name }) => name)).toEqual(formats.map(format => `replay-${format}`))
    const addresses = new Map(whole!.formats.map(({ format, baseUrl }) => [format, baseUrl]))
    for (const format of ['chat', 'responses', 'embeddings', 'rerank'])
      expect(addresses.get(format)).toBe(`${demo.url}/v1`)
    for (const format of ['messages', 'contents', 'cohere']) expect(addresses.get(format)).toBe(demo.url)
    expect([...others[0]!.models.named.keys()]).toContain('replay-chat-hello')
  })

  it('are the one an operator wrote, where it names models', () => {
    const text = 'channels: [{ name: r, provider: replay, formats: [chat], models: { a: replay } }]'
    const [only, ...more] = readConfig(text, {}).channels.flatMap(one => demoChannels(one, demo))
    expect(more).toEqual([])
    expect(only!.formats).toMatchObject([{ format: 'chat', baseUrl: `${demo.url}/v1` }])
  })
})
