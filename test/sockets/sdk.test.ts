import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { channelAt, KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { until } from '../builders/time.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { UPSTREAMS } from '../clients/upstreams/index.ts'
import { Client, type Event } from './client.ts'

const DATA = mkdtempSync(join(tmpdir(), 'interlingua-sockets-'))
afterAll(() => rmSync(DATA, { recursive: true, force: true }))

const WEATHER = {
  type: 'function' as const,
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: null,
}

describe.each(['chat', 'messages', 'contents', 'responses'])('clients before an upstream of %s', format => {
  const speaks = UPSTREAMS[format]!
  let upstream: FakeUpstream
  let testServer: TestServer
  let openai: OpenAI
  const open: ResponsesWS[] = []

  beforeAll(async () => {
    let answers = 0
    upstream = await FakeUpstream.open((response, { url, text }) => {
      const body = JSON.parse(text)
      const { tools, turns } = speaks.hear(body)
      const said =
        turns
          .at(-1)
          ?.results?.map(({ output }) => output)
          .join() ?? 'Hello there.'
      const scene =
        tools.length > 0 && turns.at(-1)?.role !== 'tool'
          ? { calls: [{ id: 'call_1', name: 'get_weather', arguments: { city: 'Rome' } }] }
          : { text: `Well: ${said}` }
      const streams = speaks.streams(url, body)
      const out = streams ? speaks.frames(scene).join('') : JSON.stringify(speaks.whole(scene))
      response.writeHead(200, { 'content-type': streams ? 'text/event-stream' : 'application/json' })
      response.end(out.replaceAll('resp_up', `resp_up_${answers++}`))
    })
    const formats = [{ ...channelAt(upstream.address, { format }).formats[0]!, dialect: { compaction: false } }]
    testServer = await TestServer.open([{ ...channelAt(upstream.address), formats }], {
      config: { dataDir: join(DATA, format) },
    })
    openai = new OpenAI({ apiKey: KEY, baseURL: `${testServer.server.address}/v1`, maxRetries: 0 })
  })
  afterEach(() => {
    for (const socket of open.splice(0)) socket.close()
  })
  afterAll(async () => {
    await testServer.server.close(0)
    await upstream.close()
  })

  /** Opens a socket of the SDK, and records its events. */
  async function connect() {
    const socket = new ResponsesWS(openai)
    open.push(socket)
    const events: Event[] = []
    const errors: Event[] = []
    socket.on('event', event => events.push(event))
    socket.on('error', error => errors.push(error))
    const end = async () => {
      await until(() => events.some(({ type }) => type === 'response.completed' || type === 'error'))
      return events.splice(0).at(-1)
    }
    return { socket, events, errors, end }
  }

  it('the SDK calls a tool and goes on from it, telling only what is new', async () => {
    const { socket, errors, end } = await connect()
    const about = { model: 'm', store: false, tools: [WEATHER] }
    socket.send({ type: 'response.create', ...about, input: 'Weather in Rome?' })
    const first = (await end()).response
    expect(first.output.at(-1)).toMatchObject({ type: 'function_call', name: 'get_weather' })
    const { call_id } = first.output.at(-1)
    const input = [{ type: 'function_call_output' as const, call_id, output: 'sunny' }]
    socket.send({ type: 'response.create', ...about, previous_response_id: first.id, input })
    const second = (await end()).response
    expect(JSON.stringify(second.output)).toContain('Well: sunny')
    const heard = speaks.hear(JSON.parse(upstream.seen.at(-1)!.text))
    expect(heard.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(heard.turns[0]!.text).toBe('Weather in Rome?')
    expect(errors).toEqual([])
  })

  it('the SDK meets errors as its own, and can go on', async () => {
    const { socket, errors, events, end } = await connect()
    socket.send({ type: 'response.create', model: 'nobody', input: 'x' })
    await until(() => errors.length > 0)
    expect(errors[0]).toMatchObject({ error: { status: 404, error: { code: 'model_not_found' } } })
    events.length = 0
    socket.send({ type: 'response.create', model: 'm', input: 'x' })
    expect((await end()).type).toBe('response.completed')
  })

  it('the SDK compacts, and goes on from what it was given', async () => {
    const input = [{ role: 'user' as const, content: 'I live in Rome.' }]
    const short = await openai.responses.compact({ model: 'm', input })
    expect(short.object).toBe('response.compaction')
    expect(short.output.map(({ type }) => type)).toEqual(['message', 'compaction'])
    const next = await openai.responses.create({
      model: 'm',
      input: [...(short.output as never[]), { role: 'user', content: 'Where do I live?' }],
    })
    expect(next.output_text).toContain('Well: ')
    expect(upstream.seen.at(-1)!.text).toContain('Well: Hello there.')
  })

  it('Codex asks with everything it has to say', async () => {
    const client = await Client.open(testServer.server.address, {
      'openai-beta': 'responses_websockets=2026-02-06',
      originator: 'codex_exec',
      'session-id': '0199',
      'x-codex-beta-features': 'remote_compaction_v2',
      'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits',
    })
    const input = [
      { type: 'message', id: 'msg_1', role: 'developer', content: [{ type: 'input_text', text: 'You code.' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'List the files.' }] },
    ]
    const asked = {
      ...{ input, tools: [], tool_choice: 'auto', parallel_tool_calls: true, reasoning: { effort: 'low' } },
      ...{ store: false, stream: true, include: ['reasoning.encrypted_content'], prompt_cache_key: '0199' },
      ...{ text: { verbosity: 'low' }, client_metadata: { turn: '1' } },
    }
    const events = await client.turn(asked)
    expect(events.at(-1).type).toBe('response.completed')
    const next = await client.turn({
      ...asked,
      previous_response_id: events.at(-1).response.id,
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And now?' }] }],
    })
    expect(next.at(-1).type).toBe('response.completed')
    const heard = speaks.hear(JSON.parse(upstream.seen.at(-1)!.text))
    expect(heard.turns.map(({ text }) => text).join(' ')).toContain('List the files.')
    expect(upstream.seen.at(-1)!.headers['openai-beta']).toBeUndefined()
    await client.close()
  })
})
