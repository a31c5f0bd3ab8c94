import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { defaultConfig, readConfig } from '../../../src/config/read.ts'
import { withMock } from '../../../src/upstreams/mock/channels.ts'
import type { Case } from '../../../src/upstreams/mock/fixtures.ts'
import { withoutSuffixes } from '../../../src/upstreams/mock/ids.ts'
import { type Mock, openMock } from '../../../src/upstreams/mock/index.ts'
import { pick } from '../../../src/upstreams/mock/pick.ts'

let replay: Mock
beforeAll(async () => {
  replay = await openMock()
})
afterAll(() => replay.close())

const post = (path: string, body: unknown): Promise<Response> =>
  fetch(replay.url + path, { method: 'POST', body: JSON.stringify(body) })

const user = [{ role: 'user', content: 'Hi.' }]
const contents = { contents: [{ parts: [{ text: 'Hi.' }] }] }

describe('the built-in upstream', () => {
  it('refuses a body nested too deeply, and lives on', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const body = `{"model":"replay","messages":[],"x":${deep}}`
    const response = await fetch(`${replay.url}/v1/chat/completions`, { method: 'POST', body })
    expect(response.status).toBe(400)
    expect((await post('/v1/chat/completions', { model: 'replay', messages: user })).status).toBe(200)
  })

  it.each([
    ['/v1/chat/completions', { model: 'replay', messages: user }, 'choices'],
    ['/v1/responses', { model: 'replay', input: 'Hi.' }, 'output'],
    ['/v1/messages', { model: 'replay', messages: user }, 'content'],
    ['/v1beta/models/replay:generateContent', contents, 'candidates'],
    ['/v1/models/a/b:generateContent', contents, 'candidates'],
    ['/v1/rerank', { model: 'replay', query: 'q', documents: ['a'] }, 'results'],
    ['/v2/rerank', { model: 'replay', query: 'q', documents: ['a'] }, 'results'],
    ['/v2/embed', { model: 'replay', texts: ['a'], input_type: 'clustering' }, 'embeddings'],
  ])('answers %s whole', async (path, body, field) => {
    const response = await post(path, body)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toHaveProperty(field)
  })

  it.each([
    ['/v1/chat/completions', { messages: user, stream: true }, 'data: [DONE]'],
    ['/v1/responses', { input: 'Hi.', stream: true }, 'event: response.completed'],
    ['/v1/messages', { messages: user, stream: true }, 'event: message_stop'],
    ['/v1beta/models/replay:streamGenerateContent?alt=sse', contents, '"finishReason":"STOP"'],
  ])('streams %s', async (path, body, sign) => {
    const response = await post(path, body)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(await response.text()).toContain(sign)
  })

  it('streams contents as a JSON list to those who ask for no events', async () => {
    const list = (await (await post('/v1beta/models/replay:streamGenerateContent', contents)).json()) as JsonObject[]
    expect(list.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }] })
  })

  it('ranks the documents and embeds the texts there are, however many were recorded', async () => {
    const ranking = async (path: string, count: number, more = {}) => {
      const documents = Array.from({ length: count }, () => 'a')
      return (await (await post(path, { query: 'q', documents, ...more })).json()) as { results: { index: number }[] }
    }
    for (const path of ['/v1/rerank', '/v2/rerank']) {
      expect((await ranking(path, 1)).results.map(({ index }) => index)).toEqual([0])
      expect((await ranking(path, 4)).results.map(({ index }) => index).sort()).toEqual([0, 1, 2, 3])
      expect((await ranking(path, 4, { top_n: 1 })).results).toHaveLength(1)
    }
    const asked = { texts: ['a', 'b', 'c'], input_type: 'clustering' }
    const { embeddings } = (await (await post('/v2/embed', asked)).json()) as { embeddings: { float: number[][] } }
    expect(embeddings.float).toHaveLength(3)
  })

  it.each([
    ['/v1/chat/completions', { model: 'replay-chat-parallel-tools', messages: user }],
    ['/v1/chat/completions', { model: 'replay-chat-parallel-tools', messages: user, stream: true }],
    ['/v1/responses', { model: 'replay-responses-reasoning', input: 'Hi.' }],
    ['/v1/responses', { model: 'replay-responses-tool-call', input: 'Hi.', stream: true }],
    ['/v1/responses/compact', { model: 'replay', input: 'Hi.' }],
    ['/v1/messages', { model: 'replay-messages-tool-call', messages: user }],
    ['/v1/messages', { model: 'replay-messages-tool-call', messages: user, stream: true }],
    ['/v1/completions', { model: 'replay', prompt: 'Hi.' }],
    ['/v1beta/models/replay:generateContent', contents],
    ['/v1beta/models/replay:streamGenerateContent', contents],
    ['/v2/rerank', { model: 'replay', query: 'q', documents: ['a'] }],
  ])('answers %s under names of its own each time: %j', async (path, body) => {
    const names = (text: string) =>
      [...text.matchAll(/"(?:id|item_id|call_id|responseId)": ?"([^"]+)"/g)].map(one => one[1]!)
    const [first, second] = [await (await post(path, body)).text(), await (await post(path, body)).text()]
    const [ours, theirs] = [names(first), names(second)]
    expect(ours.length).toBeGreaterThan(0)
    expect(ours.filter(name => theirs.includes(name))).toEqual([])
    expect(ours.map(withoutSuffixes)).toEqual(theirs.map(withoutSuffixes))
    expect(new Set(ours).size).toBe(new Set(ours.map(withoutSuffixes)).size)
    expect(withoutSuffixes(first)).toBe(withoutSuffixes(second))
  })

  it('knows a recorded request again when its history has names of this day', async () => {
    const recorded = replay.cases.find(one => one.format === 'chat' && one.name === 'tool-turn')!
    const text = JSON.stringify(recorded.request).replaceAll('"call_turin1"', '"call_turin1_replay0123456789ab"')
    expect(text).toContain('_replay')
    const answer = await (await post('/v1/chat/completions', JSON.parse(text))).json()
    expect((answer as { id: string }).id).toMatch(/^chatcmpl-tool-turn_replay/)
  })

  it('lists its models in every shape', async () => {
    const list = (await (await fetch(`${replay.url}/v1/models`)).json()) as { data: { id: string }[] }
    expect(list.data.map(({ id }) => id)).toEqual(expect.arrayContaining(['replay', 'replay-chat-hello']))
    const { models } = (await (await fetch(`${replay.url}/v1beta/models`)).json()) as { models: unknown[] }
    expect(models[0]).toEqual({ name: 'models/replay' })
  })

  it('refuses what it does not know', async () => {
    expect((await post('/v1/nothing', {})).status).toBe(404)
    expect((await fetch(`${replay.url}/v1/chat/completions`)).status).toBe(404)
    const broken = await fetch(`${replay.url}/v1/messages`, { method: 'POST', body: '{' })
    expect(broken.status).toBe(400)
  })

  it('serves any other folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fixtures-'))
    mkdirSync(join(folder, 'chat'))
    writeFileSync(join(folder, 'chat', 'own.result.json'), '{"status":200,"headers":{},"body":{"id":"own"}}')
    writeFileSync(join(folder, 'chat', 'own.request.to-messages.json'), 'no fixture')
    const other = await openMock({ folder })
    const response = await fetch(`${other.url}/v1/chat/completions`, { method: 'POST', body: '{"messages":[]}' })
    expect(await response.json()).toEqual({ id: expect.stringMatching(/^own_replay/) })
    const streamed = await fetch(`${other.url}/v1/chat/completions`, { method: 'POST', body: '{"stream":true}' })
    expect(streamed.status).toBe(404)
    await other.close()
    rmSync(folder, { recursive: true })
  })
})

describe('the fixture that answers', () => {
  const result = (content: unknown): JsonObject => ({ choices: [{ message: content as JsonObject }] })
  const call = (name: string) => ({ tool_calls: [{ id: '1', type: 'function', function: { name, arguments: '{}' } }] })
  const cases: Case[] = [
    {
      format: 'chat',
      name: 'aaa',
      request: { messages: [{ role: 'user', content: 'a' }], seed: 1 },
      result: result({}),
    },
    { format: 'chat', name: 'call', result: result(call('get_time')) },
    { format: 'chat', name: 'weather', result: result(call('get_weather')) },
    { format: 'chat', name: 'hello', result: result({ content: 'hi' }) },
    { format: 'chat', name: 'streamed', events: 'data: {}\n\n' },
    { format: 'messages', name: 'other', result: {} },
  ]
  const picked = (body: JsonObject, model = 'replay', stream = false): string | undefined =>
    pick(cases, { format: 'chat', model, stream, body })?.name
  const tools = (...names: string[]) => ({ tools: names.map(name => ({ type: 'function', function: { name } })) })

  it('is the one the model names', () => expect(picked({}, 'replay-chat-weather')).toBe('weather'))
  it('is the one with the very request, in whatever order', () =>
    expect(picked({ seed: 1, stream: false, model: 'x', messages: [{ content: 'a', role: 'user' }] })).toBe('aaa'))
  it('calls a tool where tools are offered, one of them if it can', () => {
    expect(picked(tools('get_weather'))).toBe('weather')
    expect(picked(tools('something_else'))).toBe('call')
  })
  it('answers in words once the tool has answered', () =>
    expect(picked({ ...tools('get_weather'), messages: [{ role: 'tool', content: '21' }] })).toBe('hello'))
  it.each([
    ['responses', { input: [{ type: 'function_call_output', call_id: '1', output: '21' }] }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: '1' }] }] }],
    ['contents', { contents: [{ parts: [{ functionResponse: { name: 'f', response: {} } }] }] }],
  ])('knows the answer of a tool in %s', (format, body) => {
    const both: Case[] = [
      {
        format,
        name: 'call',
        result: { output: [{ type: 'function_call' }, { type: 'tool_use' }, { functionCall: {} }] },
      },
      { format, name: 'words', result: {} },
    ]
    const asked = { format, model: 'replay', stream: false }
    expect(pick(both, { ...asked, body: { ...body, tools: [{}] } })?.name).toBe('words')
    expect(pick(both, { ...asked, body: { tools: [{}] } })?.name).toBe('call')
  })

  it('is plain text otherwise', () => expect(picked({ messages: [] })).toBe('hello'))
  it('can be streamed where a stream is asked for', () =>
    expect(picked({}, 'replay-chat-hello', true)).toBe('streamed'))
})

describe('the channels of the replay', () => {
  it('answer `replay` natively everywhere, and each fixture by a channel of its format alone', () => {
    const channels = withMock(defaultConfig({}).channels, replay)
    const formats = channels[0]!.formats.map(({ format }) => format)
    const recorded = formats.filter(format => replay.cases.some(one => one.format === format))
    expect(channels.map(({ name }) => name)).toEqual(['replay', ...recorded.map(format => `replay-${format}`)])
    const addresses = new Map(channels[0]!.formats.map(({ format, baseUrl }) => [format, baseUrl]))
    for (const format of ['chat', 'responses', 'embeddings', 'rerank'])
      expect(addresses.get(format)).toBe(`${replay.url}/v1`)
    for (const format of ['messages', 'contents', 'cohere']) expect(addresses.get(format)).toBe(replay.url)
    expect([...channels[1]!.models.named.keys()]).toContain('replay-chat-hello')
  })

  it('are the one an operator wrote, where it names models', () => {
    const { channels } = readConfig(
      'channels: [{ name: r, provider: replay, formats: [chat], models: { a: replay } }]',
      {},
    )
    const [only, ...more] = withMock(channels, replay)
    expect(more).toEqual([])
    expect(only!.formats).toMatchObject([{ format: 'chat', baseUrl: `${replay.url}/v1` }])
  })
})
