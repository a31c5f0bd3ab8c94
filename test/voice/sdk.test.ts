import OpenAI from 'openai'
import { OpenAIRealtimeWS as BetaRealtimeWS } from 'openai/beta/realtime/ws'
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { KEY, REALTIME } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import type { Event } from '../sockets/client.ts'
import { CLIENT, FUNCTION_CALL, playing, SPOKEN_TURN } from './sessions.ts'
import { hasOpenssl, openTls, type TlsFront } from './tls.ts'
import { channelTo, ScriptedUpstream } from './upstream.ts'

let testServer: TestServer
let front: TlsFront
let upstreams: ScriptedUpstream[]
const verified = process.env['NODE_TLS_REJECT_UNAUTHORIZED']

/** The interface that the clients of both generations share. */
interface Realtime {
  // biome-ignore lint/suspicious/noExplicitAny: events of many shapes
  on(event: string, listener: (event: any) => void): unknown
  // biome-ignore lint/suspicious/noExplicitAny: events of many shapes
  send(event: any): void
  close(): void
}

const openai = () => new OpenAI({ apiKey: KEY, baseURL: `${front.url}/v1` })

const CLIENTS: { readonly [name: string]: (model: string) => Realtime } = {
  OpenAIRealtimeWS: model => new OpenAIRealtimeWS({ model }, openai()) as unknown as Realtime,
  OpenAIRealtimeWebSocket: model => new OpenAIRealtimeWebSocket({ model }, openai()) as unknown as Realtime,
  'the beta’s OpenAIRealtimeWS': model => new BetaRealtimeWS({ model }, openai()) as unknown as Realtime,
}

describe.skipIf(!hasOpenssl)('the openai SDK', () => {
  beforeAll(async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    const spoken = await ScriptedUpstream.open(playing(SPOKEN_TURN))
    const calling = await ScriptedUpstream.open(playing(FUNCTION_CALL))
    upstreams = [spoken, calling]
    testServer = await TestServer.open(
      [
        channelTo(spoken, { models: { voice: 'upstream-voice' } }),
        channelTo(calling, { name: 'calling', models: { tools: 'upstream-voice' } }),
      ],
      // The native WebSocket cannot set headers, so its client sends the key as a subprotocol.
      { config: { realtime: { ...REALTIME, browserKeys: true } } },
    )
    front = await openTls(testServer.server.address)
  })

  afterEach(() => expect(testServer.lines.filter(({ level }) => level === 'error')).toEqual([]))

  afterAll(async () => {
    if (verified === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = verified
    await testServer.server.close(0)
    await front.close()
    for (const upstream of upstreams) await upstream.close()
  })

  const isBeta = (name: string): boolean => name.startsWith('the beta')

  it.each(Object.entries(CLIENTS))('%s: a spoken turn', async (name, open) => {
    const client = open('voice')
    const audio = isBeta(name) ? 'response.audio' : 'response.output_audio'
    let transcript = ''
    let bytes = 0
    const done = new Promise<Event>((resolve, reject) => {
      client.on('error', reject)
      client.on('session.created', () => {
        for (const event of CLIENT) client.send(event)
      })
      client.on(`${audio}_transcript.delta`, ({ delta }) => (transcript += delta))
      client.on(`${audio}.delta`, ({ delta }) => (bytes += Buffer.from(delta, 'base64').length))
      client.on('response.done', resolve)
    })
    const { response } = await done
    expect([transcript, bytes, response.status]).toEqual(['Hello there.', 480, 'completed'])
    expect(response.output[0].content[0].transcript).toBe('Hello there.')
    client.close()
  })

  it.each(Object.entries(CLIENTS))('%s: a function call', async (_, open) => {
    const client = open('tools')
    const call = new Promise<Event>((resolve, reject) => {
      client.on('error', reject)
      client.on('session.created', () => client.send({ type: 'response.create' }))
      client.on('response.function_call_arguments.done', resolve)
    })
    expect(await call).toMatchObject({ call_id: 'call_1', arguments: '{"city":"Paris"}' })
    client.close()
  })

  it('a client secret of the SDK opens a session', async () => {
    const { value } = await openai().realtime.clientSecrets.create({ session: { type: 'realtime', model: 'voice' } })
    const client = new OpenAIRealtimeWS({ model: 'voice' }, new OpenAI({ apiKey: value, baseURL: `${front.url}/v1` }))
    const created = await new Promise<Event>((resolve, reject) => {
      client.on('error', reject)
      client.on('session.created', resolve)
    })
    expect(created.session.model).toBe('voice')
    client.close()
  })
})
