import { afterEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { ChannelConfig } from '../../../src/config/index.ts'
import { readConfig } from '../../../src/config/read.ts'
import { channelAt, configOf, REALTIME, type TestServerOptions } from '../../builders/config.ts'
import { TestServer } from '../../builders/gateway.ts'
import { TIMED, until } from '../../builders/time.ts'
import { FakeUpstream, type Script } from '../../builders/upstream.ts'
import { Client, type Event } from '../../sockets/client.ts'
import { noise, pcm } from '../audio/signals.ts'
import { pause } from './rig.ts'
import { quiet, voice } from './voice.ts'

/* Cascades through a complete gateway: a caller of OpenAI's realtime protocol and upstreams of three formats. */

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const sse = async (response: Parameters<Script>[0], events: readonly JsonObject[], pace: number): Promise<void> => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) {
    if (pace > 0) await pause(pace)
    if (response.destroyed) return
    response.write(`data: ${JSON.stringify(event)}\n\n`)
  }
  response.end('data: [DONE]\n\n')
}

const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'upstream-chat',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const usage = { prompt_tokens: 30, completion_tokens: 9, total_tokens: 39 }

interface World {
  readonly transcript?: string
  readonly text?: string
  readonly call?: { readonly name: string; readonly arguments: string }
  readonly pace?: number
}

/** An upstream for each kind of request. */
const answering =
  ({
    transcript = 'How are you?',
    text = 'I am fine, thank you. And you, how are you?',
    call,
    pace = 0,
  }: World): Script =>
  (response, { url, text: body }) => {
    if (url.endsWith('/audio/transcriptions')) {
      const words = transcript.split(/(?<= )/).map(delta => ({ type: 'transcript.text.delta', delta }))
      const tokens = { type: 'tokens', input_tokens: 14, output_tokens: 4, total_tokens: 18 }
      return sse(response, [...words, { type: 'transcript.text.done', text: transcript, usage: tokens }], pace)
    }
    if (url.endsWith('/audio/speech')) {
      const { input } = JSON.parse(body) as { input: string }
      const audio = Buffer.from(pcm(noise(24 * 30 * input.length, 3000)))
      const pieces = Array.from({ length: Math.ceil(audio.length / 4800) }, (_, index) => ({
        type: 'speech.audio.delta',
        audio: audio.toString('base64', index * 4800, (index + 1) * 4800),
      }))
      return sse(response, [...pieces, { type: 'speech.audio.done' }], pace)
    }
    const isAnswered = (JSON.parse(body) as { messages: { role: string }[] }).messages.some(
      ({ role }) => role === 'tool',
    )
    const deltas =
      call !== undefined && !isAnswered
        ? [
            chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: call }] }),
            chunk({}, 'tool_calls'),
          ]
        : [...text.split(/(?<= )/).map(content => chunk({ content })), chunk({}, 'stop')]
    return sse(response, [...deltas, { ...chunk({}), choices: [], usage }], pace)
  }

const channels = (address: string): ChannelConfig[] =>
  (['chat', 'transcriptions', 'speech'] as const).map((format, index) =>
    channelAt(address, {
      format,
      name: format,
      models: { named: new Map([[['chatty', 'ears', 'mouth'][index]!, `upstream-${format}`]]), patterns: [] },
    }),
  )

const CASCADE = { ...REALTIME, cascade: { transcription: 'ears', speech: 'mouth', voice: 'nova' } }

async function open(world: World = {}, options: TestServerOptions = {}) {
  const upstream = await FakeUpstream.open(answering(world))
  const testServer = await TestServer.open(channels(upstream.address), { config: { realtime: CASCADE }, ...options })
  closing.push(
    () => upstream.close(),
    () => testServer.server.close(0),
  )
  const client = await Client.open(testServer.server.address, {}, '/v1/realtime?model=chatty')
  closing.push(() => client.close())
  return { upstream, testServer, client }
}

const session = (more: JsonObject = {}): JsonObject => ({
  type: 'session.update',
  session: { type: 'realtime', ...more },
})
const has = (client: Client, type: string, from = 0): boolean =>
  client.events.slice(from).some(one => one.type === type)
const all = (client: Client, type: string): Event[] => client.events.filter(one => one.type === type)

/** Sends audio at 16 kHz in messages of 100 ms. */
function speak(client: Client, audio: Uint8Array): void {
  for (let at = 0; at < audio.length; at += 3200)
    client.send({
      type: 'input_audio_buffer.append',
      audio: Buffer.from(audio.subarray(at, at + 3200)).toString('base64'),
    })
}

const TURN = Buffer.concat([quiet(0.4), voice(1), quiet(0.8)])
const formatsAt = (rate: number): JsonObject => ({
  audio: {
    input: { format: { type: 'audio/pcm', rate }, transcription: {} },
    output: { format: { type: 'audio/pcm', rate } },
  },
})

describe('a cascade', TIMED, () => {
  it('opens by a client secret that names a transcriber which the key may not use, and which hears nothing', async () => {
    const { testServer } = await open({}, { group: { models: ['chatty', 'ears', 'mouth'] } })
    const transcribing = (model: string) => ({ audio: { input: { transcription: { model } } } })
    const secretFor = (more: JsonObject) =>
      testServer.ask('/v1/realtime/client_secrets', { session: { type: 'realtime', model: 'chatty', ...more } })
    const { status, json } = await secretFor(transcribing('gpt-realtime-whisper'))
    expect(status).toBe(200)
    const caller = await Client.open(
      testServer.server.address,
      { authorization: `Bearer ${json.value}` },
      '/v1/realtime',
    )
    closing.push(() => caller.close())
    await until(() => has(caller, 'session.created'))
  })

  it('states that speech interrupts a response, without which the Agents SDK cancels it, and gets an error', async () => {
    const { client } = await open()
    const detection = (given: JsonObject) => session({ audio: { input: { turn_detection: given } } })
    client.send(detection({ type: 'semantic_vad' }))
    client.send(detection({ type: 'server_vad', interrupt_response: false, create_response: false }))
    await until(() => all(client, 'session.updated').length === 2)
    const shown = client.events
      .filter(({ type }) => type.startsWith('session.'))
      .map(event => (event as { session: JsonObject }).session['audio'] as { input: JsonObject })
    expect(shown.map(({ input }) => input['turn_detection'])).toEqual([
      { type: 'server_vad', create_response: true, interrupt_response: true },
      { type: 'semantic_vad', create_response: true, interrupt_response: true },
      { type: 'server_vad', create_response: false, interrupt_response: false },
    ])
  })

  it('answers a spoken turn through the routing, the limits and the log of the gateway', async () => {
    const { upstream, testServer, client } = await open()
    client.send(session({ instructions: 'Be kind.', ...formatsAt(16_000) }))
    speak(client, TURN)
    await until(() => has(client, 'response.done'))
    expect(all(client, 'error')).toEqual([])
    expect(all(client, 'conversation.item.input_audio_transcription.completed')).toMatchObject([
      { transcript: 'How are you?', usage: { type: 'tokens', input_tokens: 14, output_tokens: 4 } },
    ])
    expect(all(client, 'response.done')[0].response).toMatchObject({
      status: 'completed',
      output: [{ content: [{ type: 'output_audio', transcript: 'I am fine, thank you. And you, how are you?' }] }],
      usage: { input_tokens: 30, output_tokens: 9 },
    })
    const bytes = all(client, 'response.output_audio.delta').reduce(
      (sum, { delta }) => sum + Buffer.from(delta, 'base64').length,
      0,
    )
    const letters = 'I am fine, thank you.And you, how are you?'.length
    expect(bytes / 32 / (30 * letters)).toBeCloseTo(1, 2)

    const chat = upstream.seen.find(({ url }) => url.endsWith('/chat/completions'))!
    expect(JSON.parse(chat.text)).toMatchObject({
      model: 'upstream-chat',
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'How are you?' },
      ],
    })
    const speech = upstream.seen.filter(({ url }) => url.endsWith('/audio/speech')).map(({ text }) => JSON.parse(text))
    expect(speech).toMatchObject([
      { model: 'upstream-speech', input: 'I am fine, thank you.', voice: 'nova', response_format: 'pcm' },
      { input: 'And you, how are you?' },
    ])
    await client.close()
    await until(() => testServer.lines.some(({ message }) => message === 'session'))
    const line = testServer.lines.find(({ message }) => message === 'session')!.fields
    expect(line).toMatchObject({ model: 'chatty', responses: 1, input_tokens: 44, output_tokens: 13 })
    expect(testServer.lines.filter(({ message }) => message !== 'session').length).toBeGreaterThanOrEqual(4)
  })

  it('asks no model that its key may no longer use', async () => {
    const { upstream, testServer, client } = await open()
    const content = [{ type: 'input_text', text: 'Hello.' }]
    client.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } })
    client.send({ type: 'response.create' })
    await until(() => has(client, 'response.done'))
    const spoken = () => upstream.seen.filter(({ url }) => url.endsWith('/audio/speech')).length
    const before = spoken()
    const group = { models: ['chatty', 'ears'] }
    testServer.server.reload(configOf(channels(upstream.address), { config: { realtime: CASCADE }, group }))
    client.send({ type: 'response.create' })
    await until(() => all(client, 'response.done').length === 2)
    expect(all(client, 'response.done')[1].response.status).toBe('failed')
    expect(spoken()).toBe(before)
  })

  it('begins no request whose expected cost at the price of its model exceeds the budget', async () => {
    const { models } = readConfig(
      `channels: []
models:
  chatty: { price: { input: 0, output: 0 } }
  ears: { price: { input: 1000, output: 1000 } }
  mouth: { price: { input: 0, output: 0 } }`,
      {},
    )
    const { client, testServer, upstream } = await open(
      {},
      { group: { budget: { day: 0.01 } }, config: { realtime: CASCADE, models } },
    )
    client.send(session(formatsAt(16_000)))
    speak(client, TURN)
    await until(() => has(client, 'response.done'))
    const failed = all(client, 'conversation.item.input_audio_transcription.failed')
    expect(failed).toMatchObject([{ error: { code: 'insufficient_quota' } }])
    expect(upstream.seen).toEqual([])
    const { status } = await testServer.ask('/v1/chat/completions', {
      model: 'chatty',
      messages: [{ role: 'user', content: 'Hi.' }],
    })
    expect(status).toBe(200)
  })

  it('answers before upstreams that do not stream', async () => {
    const { upstream, client } = await open()
    const audio = Buffer.from(pcm(noise(24_001, 3000)))
    upstream.script = (response, { url }) => {
      if (url.endsWith('/audio/speech')) {
        response.writeHead(200, { 'content-type': 'audio/pcm' })
        response.write(audio.subarray(0, 1001))
        response.end(audio.subarray(1001))
        return
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      const message = { role: 'assistant', content: 'All at once.' }
      const answer = url.endsWith('/audio/transcriptions')
        ? { text: 'Well?', usage: { type: 'duration', seconds: 2 } }
        : { id: 'x', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
      response.end(JSON.stringify(answer))
    }
    client.send(session({ audio: { input: { format: { type: 'audio/pcm', rate: 16_000 }, transcription: {} } } }))
    speak(client, TURN)
    await until(() => has(client, 'response.done'))
    expect(all(client, 'error')).toEqual([])
    expect(all(client, 'conversation.item.input_audio_transcription.completed')).toMatchObject([
      { transcript: 'Well?' },
    ])
    expect(all(client, 'response.done')[0].response).toMatchObject({
      status: 'completed',
      output: [{ content: [{ transcript: 'All at once.' }] }],
    })
    const bytes = Buffer.concat(
      all(client, 'response.output_audio.delta').map(({ delta }) => Buffer.from(delta, 'base64')),
    )
    expect(Buffer.compare(bytes, audio)).toBe(0)
  })

  it('speaks G.711, too', async () => {
    const { client } = await open()
    client.send(session({ audio: { input: { turn_detection: null }, output: { format: { type: 'audio/pcmu' } } } }))
    client.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    })
    client.send({ type: 'response.create' })
    await until(() => has(client, 'response.done'))
    const bytes = all(client, 'response.output_audio.delta').reduce(
      (sum, { delta }) => sum + Buffer.from(delta, 'base64').length,
      0,
    )
    expect(bytes / 8 / (30 * 'I am fine, thank you.And you, how are you?'.length)).toBeCloseTo(1, 1)
  })

  it('calls functions over two rounds', async () => {
    const { upstream, client } = await open({ call: { name: 'mood', arguments: '{"of":"you"}' } })
    client.send(
      session({
        tools: [{ type: 'function', name: 'mood', parameters: { type: 'object', properties: {} } }],
        ...formatsAt(16_000),
      }),
    )
    speak(client, TURN)
    await until(() => has(client, 'response.done'))
    expect(all(client, 'response.function_call_arguments.done')).toMatchObject([
      { name: 'mood', arguments: '{"of":"you"}' },
    ])
    const { call_id } = all(client, 'response.function_call_arguments.done')[0]
    const from = client.events.length
    client.send({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id, output: '"good"' } })
    client.send({ type: 'response.create' })
    await until(() => has(client, 'response.done', from))
    const last = JSON.parse(upstream.seen.filter(({ url }) => url.endsWith('/chat/completions')).at(-1)!.text)
    expect(last.messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(last.messages[1].tool_calls[0].id).toBe(last.messages[2].tool_call_id)
  })

  it('is written as any request of another format: repaired, in the names of the channel', async () => {
    const { upstream, client } = await open({ call: { name: 'mood', arguments: '{}' } })
    client.send(
      session({ output_modalities: ['text'], max_output_tokens: 50, tools: [{ type: 'function', name: 'mood' }] }),
    )
    const say = (text: string): void =>
      client.send({
        type: 'conversation.item.create',
        item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
      })
    say('Hi')
    client.send({ type: 'response.create' })
    await until(() => has(client, 'response.done'))
    const from = client.events.length
    say('Never mind.')
    client.send({ type: 'response.create' })
    await until(() => has(client, 'response.done', from))
    const { messages } = JSON.parse(upstream.seen.at(-1)!.text)
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(messages.at(-1).content).toBe('Never mind.')
  })

  it.each([
    ['response.created', '/chat/completions'],
    ['response.output_audio.delta', '/audio/speech'],
  ])('cancelled after its %s ends the requests at its upstreams', async (stage, url) => {
    const { upstream, client } = await open({ pace: 20 })
    client.send(session(formatsAt(16_000)))
    client.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    })
    client.send({ type: 'response.create' })
    await until(() => has(client, stage) && upstream.seen.some(seen => seen.url.endsWith(url)))
    const before = Date.now()
    client.send({ type: 'response.cancel' })
    await until(() => has(client, 'response.done'))
    const running = upstream.seen.filter(seen => seen.url.endsWith(url))
    await until(() => running.at(-1)!.brokenAt !== undefined)
    expect(running.at(-1)!.brokenAt! - before).toBeLessThan(200)
    expect(all(client, 'response.done')[0].response.status).toBe('cancelled')
    const count = all(client, 'response.output_audio.delta').length
    await pause(60)
    expect(all(client, 'response.output_audio.delta').length).toBe(count)
  })

  it('whose caller is gone leaves no request', async () => {
    const { upstream, testServer, client } = await open({ pace: 20 })
    client.send(session(formatsAt(16_000)))
    speak(client, TURN)
    await until(() => has(client, 'response.output_audio.delta'))
    client.socket.terminate()
    await until(() => testServer.lines.some(({ message }) => message === 'session'))
    await pause(60)
    const speech = upstream.seen.filter(({ url }) => url.endsWith('/audio/speech'))
    expect(speech.every(({ brokenAt }) => brokenAt !== undefined)).toBe(true)
    const count = upstream.seen.length
    await pause(60)
    expect(upstream.seen.length).toBe(count)
  })

  it('reports what fails behind it, and nothing of who failed', async () => {
    const { upstream, client } = await open()
    upstream.script = response => {
      response.writeHead(500, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: `I am ${upstream.address}, key upstream-key-1234` } }))
    }
    client.send({ type: 'response.create' })
    await until(() => has(client, 'response.done'))
    const { response } = all(client, 'response.done')[0]
    expect(response.status).toBe('failed')
    expect(JSON.stringify(client.events)).not.toMatch(/127\.0\.0\.1|upstream-key/)
  })
})
