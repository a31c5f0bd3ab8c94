import { afterEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { AdminServer } from '../builders/admin.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { REALTIME } from '../builders/config.ts'
import { pause, TIMED, until } from '../builders/time.ts'
import { DAY } from '../builders/units.ts'
import { Client } from '../sockets/client.ts'
import { type Connection, channelTo, type Script, ScriptedUpstream } from './upstream.ts'

/*
 * Sessions that only transcribe: OpenAI's clients open them with `?intent=transcription` and name the model in the
 * settings that follow, and OpenAI refuses a model in their URL.
 */

const closing = closingAfterEach()
const PATH = '/v1/realtime?intent=transcription'
const BETA = { 'openai-beta': 'realtime=v1' }
const AUDIO = { type: 'input_audio_buffer.append', audio: Buffer.alloc(4800).toString('base64') }
const COMPLETED = 'conversation.item.input_audio_transcription.completed'

const session = (settings: JsonObject = {}): JsonObject => ({
  ...{ type: 'transcription', object: 'realtime.transcription_session', id: 'sess_up' },
  audio: { input: { format: { type: 'audio/pcm', rate: 24_000 }, ...settings } },
})

/** Acknowledges each update with its settings, and each committed turn with a transcript. */
const transcribing: Script = async connection => {
  connection.send({ type: 'session.created', event_id: 'e1', session: session() })
  for (let taken = 0; ; taken++) {
    await connection.until(taken + 1)
    const event = connection.received[taken]!
    if (event['type'] === 'session.update') {
      const { audio } = event['session'] as { audio?: { input?: JsonObject } }
      connection.send({ type: 'session.updated', event_id: 'e2', session: session(audio?.input) })
    } else if (event['type'] === 'input_audio_buffer.commit')
      connection.send({
        ...{ type: COMPLETED, event_id: 'e3', item_id: 'said', content_index: 0, transcript: 'Hello.' },
        usage: { type: 'duration', seconds: 30 },
      })
  }
}

let upstream: ScriptedUpstream
let admin: AdminServer

async function open(script: Script = transcribing, realtime: object = {}): Promise<void> {
  upstream = await ScriptedUpstream.open(script)
  closing.push(() => upstream.close())
  const models = { hear: 'whisper-1', mute: 'gpt-4o-transcribe' }
  const channel = { ...channelTo(upstream, { models }), provider: 'openai' }
  const config = { usage: { retention: DAY }, realtime: { ...REALTIME, ...realtime } }
  admin = await AdminServer.open([channel], config, { group: { models: ['hear'], budget: { day: 1 } } })
  closing.push(() => admin.close())
}
afterEach(() => {
  expect(admin.testServer.lines.filter(({ level }) => level === 'error')).toEqual([])
})

const connect = (headers: { readonly [name: string]: string } = {}, path = PATH) =>
  Client.open(admin.testServer.server.address, headers, path)
const refusal = (headers: { readonly [name: string]: string } = {}, path = PATH) =>
  connect(headers, path).then(
    () => 101,
    ({ status }) => status as number,
  )
const connection = (): Connection => upstream.connections[0]!
const has = (client: Client, type: string) => until(() => client.events.some(event => event.type === type))

const update = (model: string): JsonObject => ({
  type: 'session.update',
  session: {
    type: 'transcription',
    audio: { input: { format: { type: 'audio/pcm', rate: 24_000 }, transcription: { model, language: 'en' } } },
  },
})
const betaUpdate = (model: string): JsonObject => ({
  type: 'transcription_session.update',
  session: { input_audio_format: 'pcm16', input_audio_transcription: { model }, turn_detection: null },
})

async function rows(): Promise<readonly JsonObject[]> {
  for (;;) {
    const { data } = (await admin.get('/requests')).json
    if (data.length > 0) return data
    await pause(20)
  }
}

describe('a session whose settings name its model', () => {
  it('begins with what the caller sent before it knew that the session began', async () => {
    await open()
    const client = await connect()
    for (const event of [update('hear'), AUDIO, AUDIO, { type: 'input_audio_buffer.commit' }]) client.send(event)
    await has(client, COMPLETED)
    expect(client.events.map(({ type }) => type)).toEqual(['session.created', 'session.updated', COMPLETED])
    const [created, updated] = client.events
    expect(created.session).toMatchObject({ type: 'transcription', object: 'realtime.transcription_session' })
    expect(updated.session.audio.input.transcription).toEqual({ model: 'hear', language: 'en' })
    expect(new URL(connection().message.url!, 'http://x').search).toBe('?intent=transcription')
    expect(connection().received.map(({ type }) => type)).toEqual([
      ...['session.update', 'input_audio_buffer.append', 'input_audio_buffer.append', 'input_audio_buffer.commit'],
    ])
    expect(connection().received[0]).toMatchObject({
      session: { audio: { input: { transcription: { model: 'whisper-1' } } } },
    })
    await client.close()
    await until(() => upstream.open === 0)
    const [row] = await rows()
    expect(row).toMatchObject({ model: 'hear', status: 101, cost: expect.closeTo(0.003, 9) })
  })

  it('is announced to callers that wait for it, in the names of the beta', async () => {
    await open()
    const client = await connect(BETA)
    await has(client, 'transcription_session.created')
    expect(upstream.connections).toHaveLength(0)
    client.send(betaUpdate('hear'))
    await has(client, 'transcription_session.updated')
    client.send(AUDIO)
    client.send({ type: 'input_audio_buffer.commit' })
    await has(client, COMPLETED)
    expect(client.events.map(({ type }) => type)).toEqual([
      ...['transcription_session.created', 'transcription_session.updated', COMPLETED],
    ])
    expect(client.events.at(-1).transcript).toBe('Hello.')
    const sent = connection().received.filter(({ type }) => type === 'session.update')
    for (const { session } of sent) {
      expect(session).toMatchObject({ type: 'transcription' })
      expect(session).not.toHaveProperty('model')
      expect((session as { audio: JsonObject }).audio).not.toHaveProperty('output')
    }
    expect(sent.at(-1)).toMatchObject({ session: { audio: { input: { transcription: { model: 'whisper-1' } } } } })
  })

  it('waits for settings that name a model', async () => {
    await open()
    const client = await connect()
    client.send({ type: 'session.update', session: { type: 'transcription', include: ['logprobs'] } })
    await pause(50)
    expect(upstream.connections).toHaveLength(0)
    client.send(update('hear'))
    await has(client, 'session.updated')
    await until(() => connection().received.length === 2)
  })

  it.each([
    ['a forbidden model', 'mute', 'model_not_allowed'],
    ['an unknown model', 'hear-nothing', 'model_not_found'],
  ])('ends with an error for %s', async (_, model, code) => {
    await open()
    const client = await connect()
    client.send({ ...update(model), event_id: 'mine' })
    await until(() => client.closed !== undefined)
    expect(client.events.at(-1)).toMatchObject({ type: 'error', error: { code } })
    expect(client.closed).toBe(1008)
    expect(upstream.connections).toHaveLength(0)
  })

  it('ends with an error if the upstream refuses the session', async () => {
    await open(connection => {
      connection.send({ type: 'error', error: { type: 'server_error', code: 'broken', message: 'Broken.' } })
    })
    const client = await connect()
    client.send(update('hear'))
    await until(() => client.closed !== undefined)
    expect(client.events.at(-1)).toMatchObject({ type: 'error' })
    expect(client.closed).toBe(1011)
    expect((await rows())[0]).toMatchObject({ model: 'hear' })
  })

  it('ends if no model is named in time', async () => {
    await open(transcribing, { idle: 100 })
    const client = await connect()
    await until(() => client.closed !== undefined)
    expect(client.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'session_idle' } })
  })

  it('ends if too much arrives before the settings', async () => {
    await open()
    const client = await connect()
    const audio = { ...AUDIO, audio: Buffer.alloc(300_000).toString('base64') }
    for (let count = 0; count < 30; count++) client.send(audio)
    await until(() => client.closed !== undefined)
    expect(client.closed).toBe(1009)
  })

  it.each([
    ['before its settings', false],
    ['while the upstream connects', true],
  ])('leaves nothing behind if the caller leaves %s', async (_, isNamed) => {
    await open(async () => {}, { sessions: { key: 1, all: 1 } })
    for (let count = 0; count < 3; count++) {
      const client = await connect()
      if (isNamed) {
        client.send(update('hear'))
        await until(() => upstream.open === 1)
      }
      client.socket.terminate()
      await until(() => upstream.open === 0)
    }
    await pause(50)
    expect(await refusal()).toBe(101)
  })

  it('may wait as often as the key may have sessions', async () => {
    await open(transcribing, { sessions: { key: 2, all: 10 } })
    const clients = [await connect(), await connect()]
    expect(await refusal()).toBe(429)
    clients[0]!.socket.terminate()
    await until(() => clients[0]!.closed !== undefined)
    await pause(50)
    expect(await refusal()).toBe(101)
  })

  it('ends when the gateway stops', TIMED, async () => {
    await open()
    const client = await connect()
    await has(client, 'session.created')
    const stopped = admin.testServer.server.close(500)
    await until(() => client.closed !== undefined)
    expect(client.closed).toBe(1001)
    await stopped
  })

  it('ends when its key is revoked', async () => {
    await open()
    const { json } = await admin.ask('POST', '/keys', { name: 'short' })
    const client = await connect({ authorization: `Bearer ${json.secret}` })
    await has(client, 'session.created')
    expect((await admin.ask('DELETE', `/keys/${json.id}`)).status).toBe(204)
    client.send(update('hear'))
    await until(() => client.closed !== undefined)
    expect(client.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'invalid_api_key' } })
    expect(upstream.connections).toHaveLength(0)
  })
})

describe('a transcription session', () => {
  it('needs a valid key before it is accepted', async () => {
    await open()
    expect(await refusal({ authorization: 'Bearer wrong' })).toBe(401)
    expect(await refusal({}, '/v1/realtime')).toBe(400)
  })

  it('with its model in the URL reaches the upstream without it', async () => {
    await open()
    const client = await connect({}, `${PATH}&model=hear`)
    await has(client, 'session.created')
    client.send(update('hear'))
    await has(client, 'session.updated')
    expect(connection().message.url).toMatch(/\?intent=transcription$/)
  })

  it('may be opened with a client secret', async () => {
    await open()
    const { status, json } = await admin.testServer.ask('/v1/realtime/client_secrets', {
      session: { type: 'transcription', audio: { input: { transcription: { model: 'hear' } } } },
    })
    expect(status).toBe(200)
    expect(json.session).toMatchObject({ type: 'transcription', object: 'realtime.transcription_session' })
    const client = await connect({ authorization: `Bearer ${json.value}` }, '/v1/realtime')
    await has(client, 'session.created')
    expect(client.events[0].session.audio.input.transcription).toMatchObject({ model: 'hear' })
    expect(connection().message.url).toMatch(/\?intent=transcription$/)
    expect(connection().received[0]).toEqual({
      type: 'session.update',
      session: { type: 'transcription', audio: { input: { transcription: { model: 'whisper-1' } } } },
    })
  })

  it('needs a model in its client secret', async () => {
    await open()
    const { status, json } = await admin.testServer.ask('/v1/realtime/client_secrets', {
      session: { type: 'transcription' },
    })
    expect([status, json.error.param]).toEqual([400, 'session.audio.input.transcription.model'])
  })
})
