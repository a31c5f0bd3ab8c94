import { afterEach, describe, expect, it } from 'vitest'
import { TestServer } from '../builders/gateway.ts'
import { until } from '../builders/time.ts'
import { Client } from '../sockets/client.ts'
import { channelTo, created, type Script, ScriptedUpstream } from './upstream.ts'

/* Callers and upstreams that both speak the beta generation. */

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const BETA = { 'openai-beta': 'realtime=v1' }

/** Session fields that exist in no other description of the format. */
const SESSION = {
  ...{ id: 'sess_up', object: 'realtime.session', model: 'upstream-voice', modalities: ['audio', 'text'] },
  ...{ voice: { name: 'alloy', type: 'openai' }, input_audio_format: 'pcm16', output_audio_format: null },
  ...{ input_audio_sampling_rate: 24_000, avatar: null, client_secret: null, turn_detection: { type: 'azure_vad' } },
}

/** Frames in a spelling that no code of this project writes. */
const FRAMES = [
  '{ "event_id":"e1", "type":"response.audio.delta", "delta":"AAAA", "vendor": 1.0 }',
  '{"type":"response.audio_transcript.delta","delta":"Hi", "big": 12345678901234567890}',
  '{"type":"response.text.done",\n"text":"Hi"}',
  '{"type":"conversation.item.created","item":{"id":"i1","unknown":{"a":[1e2]}}}',
  '{"type":"response.animation_viseme.delta","offset":10.50}',
  '{"unknown":1,"type":"vendor.event"}',
]

async function open(script: Script, dialect = { naming: 'beta' }, headers: { [name: string]: string } = BETA) {
  const upstream = await ScriptedUpstream.open(script)
  const testServer = await TestServer.open([channelTo(upstream, { dialect, models: MODELS })])
  closing.push(
    () => upstream.close(),
    () => testServer.server.close(0),
  )
  const client = await Client.open(testServer.server.address, headers, '/v1/realtime?model=voice')
  closing.push(() => client.close())
  const received: string[] = []
  client.socket.on('message', data => received.push(String(data)))
  await until(() => client.events.length > 0)
  return { client, testServer, received, connection: upstream.connections[0]! }
}

const MODELS = { voice: 'upstream-voice', ears: 'upstream-ears' }

const creating: Script = connection => connection.send({ type: 'session.created', event_id: 'e0', session: SESSION })

describe('a caller and an upstream of the beta', () => {
  it('have the session as the upstream created it, under the caller’s model and the gateway’s id', async () => {
    const { client, connection } = await open(creating)
    const id = expect.stringMatching(/^sess_(?!up)/)
    expect(client.events[0]).toEqual({
      ...{ type: 'session.created', event_id: 'e0' },
      session: { ...SESSION, model: 'voice', id },
    })
    expect(connection.message.headers['openai-beta']).toBe('realtime=v1')
    expect(connection.received).toEqual([])
  })

  it('have every byte of the frames that name no model pass, both ways', async () => {
    const { client, connection, received } = await open(creating)
    const texts: string[] = []
    connection.socket.on('message', data => texts.push(String(data)))
    const sent = [
      '{ "type": "session.update", "session": {"modalities": ["text"], "turn_detection": {"threshold": 0.50, "x": 1.0}} }',
      '{"type":"vendor.command","level":1.0}',
      '{"type":"response.create" ,"response":{"modalities":["audio","text"],"vendor":12345678901234567890}}',
      `{"type":"input_audio_buffer.append","audio":"${'QUJD'.repeat(5000)}"}`,
    ]
    for (const text of sent) client.send(text)
    for (const frame of FRAMES) connection.send(frame)
    await until(() => texts.length === sent.length && received.length === FRAMES.length)
    expect(texts).toEqual(sent)
    expect(received).toEqual(FRAMES)
  })

  it('have the same account as any session', async () => {
    const { client, connection, testServer } = await open(creating)
    client.send({ type: 'response.create' })
    await until(() => connection.received.length === 1)
    connection.send({ type: 'response.created', response: { id: 'r1', status: 'in_progress' } })
    connection.send({ type: 'response.done', response: { id: 'r1', usage: { input_tokens: 7, output_tokens: 3 } } })
    await until(() => client.events.some(({ type }) => type === 'response.done'))
    await client.close()
    await until(() => testServer.lines.some(({ message }) => message === 'session'))
    const { fields } = testServer.lines.find(({ message }) => message === 'session')!
    expect(fields).toMatchObject({ responses: 1, input_tokens: 7, output_tokens: 3 })
  })

  it('call each model by their own names', async () => {
    const { client, connection } = await open(creating)
    const update = (model: string, transcriber: string) => ({
      type: 'session.update',
      session: { model, input_audio_transcription: { model: transcriber }, voice: 'alloy' },
    })
    client.send(update('voice', 'ears'))
    await until(() => connection.received.length === 1)
    expect(connection.received[0]).toEqual(update('upstream-voice', 'upstream-ears'))
    connection.send({ ...update('upstream-voice-2026-01-01', 'upstream-ears'), type: 'session.updated' })
    await until(() => client.events.length === 2)
    expect(client.events[1]).toMatchObject({ ...update('voice', 'ears'), type: 'session.updated' })
  })
})

it.each([
  ['the beta before general availability', {}, BETA],
  ['general availability before the beta', { naming: 'beta' }, {}],
])('%s is translated', async (_, dialect, headers) => {
  const answering: Script = async connection => {
    connection.send({ type: 'session.created', session: SESSION })
    await connection.until(1)
    connection.send({ type: 'session.updated', session: SESSION })
    connection.send('{"type":"vendor.event"}')
  }
  const { client } = await open(answering, dialect as { naming: string }, headers)
  expect('input_audio_format' in client.events[0].session).toBe(headers === BETA)
})

describe('a caller that is set up for a preview of Azure OpenAI', () => {
  const opened = async (path: string): Promise<string> => {
    const upstream = await ScriptedUpstream.open(async connection => {
      connection.send(created())
      await connection.until(1)
      connection.send({ ...created(), type: 'session.updated' })
      connection.send({ type: 'response.output_text.delta', ...PLACE, delta: 'Hi' })
    })
    const testServer = await TestServer.open([channelTo(upstream)])
    const client = await Client.open(testServer.server.address, {}, path)
    closing.push(
      () => upstream.close(),
      () => testServer.server.close(0),
      () => client.close(),
    )
    client.send({ type: 'session.update', session: { type: 'realtime', instructions: 'Be kind.' } })
    await until(() => client.events.some(({ type }) => type.endsWith('text.delta')))
    return client.events.find(({ type }) => type.endsWith('text.delta'))!.type
  }
  const PLACE = { response_id: 'r', item_id: 'i', output_index: 0, content_index: 0 }

  it('speaks the beta, without its header', async () => {
    const path = '/openai/realtime?api-version=2024-10-01-preview&deployment=voice'
    expect(await opened(path)).toBe('response.text.delta')
  })

  it.each(['/openai/v1/realtime?model=voice', '/openai/v1/realtime?api-version=preview&model=voice'])(
    'speaks the generally available version at %s',
    async path => {
      expect(await opened(path)).toBe('response.output_text.delta')
    },
  )
})
