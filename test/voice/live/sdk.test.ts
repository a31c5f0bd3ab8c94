import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KEY } from '../../builders/config.ts'
import { TestServer } from '../../builders/gateway.ts'
import { until } from '../../builders/time.ts'
import type { Event } from '../../sockets/client.ts'
import { hasOpenssl, openTls, type TlsFront } from '../tls.ts'
import { channelTo, ScriptedUpstream } from '../upstream.ts'
import { calls, INTERRUPTED, inputTranscript, outputTranscript, spoken, TURN_COMPLETE } from './machine.ts'
import { strict } from './strict.ts'

const faults: string[] = []
let testServer: TestServer
let front: TlsFront
let upstream: ScriptedUpstream
const verified = process.env['NODE_TLS_REJECT_UNAUTHORIZED']

/** A session of the openai package against a strict upstream. */
describe.skipIf(!hasOpenssl)('the openai SDK before Gemini Live', () => {
  beforeAll(async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    upstream = await ScriptedUpstream.open(
      strict(faults, async live => {
        await live.next()
        live.send(calls({ id: 'fc_1', name: 'get_weather', args: { city: 'Paris' } }))
        await live.next()
        live.send(outputTranscript('It is sunny'), spoken(9600))
        await until(() => live.heard > 3000)
        live.send(INTERRUPTED, TURN_COMPLETE, inputTranscript('Stop'), outputTranscript('Bye.'), TURN_COMPLETE)
      }),
    )
    testServer = await TestServer.open([channelTo(upstream, { format: 'live' })])
    front = await openTls(testServer.server.address)
  })

  afterAll(async () => {
    if (verified === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = verified
    await testServer.server.close(0)
    await front.close()
    await upstream.close()
  })

  it('a function call and an interruption', async () => {
    const client = new OpenAIRealtimeWS({ model: 'voice' }, new OpenAI({ apiKey: KEY, baseURL: `${front.url}/v1` }))
    const events: Event[] = []
    client.on('event', event => events.push(event))
    client.on('error', () => {})
    client.on('session.created', () => {
      client.send({
        type: 'session.update',
        session: {
          type: 'realtime',
          tools: [{ type: 'function', name: 'get_weather', parameters: { type: 'object' } }],
          audio: { input: { transcription: { model: 'whisper-1' } } },
        },
      })
      client.send({
        type: 'conversation.item.create',
        item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
      })
      client.send({ type: 'response.create' })
    })
    client.on('response.function_call_arguments.done', ({ call_id }) => {
      client.send({
        type: 'conversation.item.create',
        item: { type: 'function_call_output', call_id, output: '{"sky":"clear"}' },
      })
      client.send({ type: 'response.create' })
    })
    client.on('response.output_audio.delta', () => {
      client.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(9600).toString('base64') })
    })
    const done = () => events.filter(({ type }) => type === 'response.done').map(({ response }) => response)
    await until(() => done().length === 3)
    expect(done().map(({ status }) => status)).toEqual(['completed', 'cancelled', 'completed'])
    expect(done()[1].output[0].content[0].transcript).toBe('It is sunny')
    expect(events.filter(({ type }) => type === 'error')).toEqual([])
    expect(faults).toEqual([])
    client.close()
    await until(() => upstream.open === 0)
  })
})
