import { afterEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { TestServerOptions } from '../../builders/config.ts'
import { TestServer } from '../../builders/gateway.ts'
import { until } from '../../builders/time.ts'
import { Client } from '../../sockets/client.ts'
import { channelTo, type Script, ScriptedUpstream } from '../upstream.ts'
import {
  calls,
  content,
  GO_AWAY,
  INTERRUPTED,
  inputTranscript,
  outputTranscript,
  resumable,
  spoken,
  TURN_COMPLETE,
} from './machine.ts'
import { type LiveConnection, strict } from './strict.ts'

let testServer: TestServer | undefined
let upstreams: ScriptedUpstream[] = []
let faults: string[] = []

afterEach(async () => {
  await testServer?.server.close(0)
  testServer = undefined
  for (const upstream of upstreams) await upstream.close()
  upstreams = []
  const found = faults
  faults = []
  expect(found).toEqual([])
})

async function open(script: Script, options: TestServerOptions = {}): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.open(script)
  upstreams.push(upstream)
  testServer = await TestServer.open(
    [
      channelTo(upstream, {
        format: 'live',
        models: { voice: 'gemini-live-secret' },
        dialect: { voices: { alloy: 'Kore' } },
      }),
    ],
    options,
  )
  return upstream
}

const client = (headers = {}) => Client.open(testServer!.server.address, headers, '/v1/realtime?model=voice')
const sessions = () => testServer!.lines.filter(({ message }) => message === 'session')
const typesOf = (caller: Client): string[] => caller.events.map(({ type }) => type)
const count = (caller: Client, type: string): number => typesOf(caller).filter(one => one === type).length
const came = (caller: Client, type: string, times = 1) => until(() => count(caller, type) >= times)

const userText = (text: string): JsonObject => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
})
const callResult = (id: string, output: string): JsonObject => ({
  type: 'conversation.item.create',
  item: { type: 'function_call_output', call_id: id, output },
})
const CREATE = { type: 'response.create' }
/** Audio in the caller's format, at 24 kHz. */
const append = (milliseconds: number): JsonObject => ({
  type: 'input_audio_buffer.append',
  audio: Buffer.alloc(48 * milliseconds, 1).toString('base64'),
})
const session = (more: JsonObject): JsonObject => ({ type: 'session.update', session: { type: 'realtime', ...more } })
const WEATHER = { type: 'function', name: 'get_weather', description: 'Weather.', parameters: { type: 'object' } }

describe('a caller of OpenAI’s format before Gemini Live', () => {
  it('talks, calls a function, interrupts, and is counted', async () => {
    const upstream = await open(
      strict(faults, async live => {
        expect(live.setup).toMatchObject({
          model: 'models/gemini-live-secret',
          systemInstruction: { parts: [{ text: 'Be short.' }] },
          tools: [{ functionDeclarations: [{ name: 'get_weather' }] }],
          generationConfig: { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } } },
        })
        await until(() => live.heard >= 16_000)
        live.send(inputTranscript('Weather?'), calls({ id: 'fc_1', name: 'get_weather', args: { city: 'Paris' } }))
        expect(await live.next()).toEqual({
          toolResponse: { functionResponses: [{ id: 'fc_1', name: 'get_weather', response: { degrees: 20 } }] },
        })
        live.send(outputTranscript('Twenty '), spoken(4800), spoken(4800))
        await until(() => live.heard >= 32_000)
        live.send(INTERRUPTED, TURN_COMPLETE, inputTranscript('Thanks.'), outputTranscript('Bye.'), TURN_COMPLETE)
      }),
    )
    const caller = await client()
    caller.send(
      session({
        instructions: 'Be short.',
        tools: [WEATHER],
        audio: { input: { transcription: { model: 'whisper-1' } }, output: { voice: 'alloy' } },
      }),
    )
    for (let sent = 0; sent < 600; sent += 20) caller.send(append(20))
    await came(caller, 'response.function_call_arguments.done')
    await came(caller, 'response.done')
    const call = caller.events.find(({ type }) => type === 'response.function_call_arguments.done')
    expect(call).toMatchObject({ call_id: 'fc_1', name: 'get_weather', arguments: '{"city":"Paris"}' })
    caller.send(callResult('fc_1', '{"degrees":20}'))
    caller.send(CREATE)
    await came(caller, 'response.output_audio.delta', 2)
    for (let sent = 0; sent < 600; sent += 20) caller.send(append(20))
    await came(caller, 'response.done', 3)
    const types = typesOf(caller)
    const responses = caller.events.filter(({ type }) => type === 'response.done').map(({ response }) => response)
    expect(responses.map(({ status }) => status)).toEqual(['completed', 'cancelled', 'completed'])
    expect(responses[1].status_details).toMatchObject({ reason: 'turn_detected' })
    expect(responses[1].output[0].content[0].transcript).toBe('Twenty ')
    const interruption = types.lastIndexOf('input_audio_buffer.speech_started')
    expect(interruption).toBeGreaterThan(types.indexOf('response.output_audio.delta'))
    expect(interruption).toBeLessThan(types.lastIndexOf('response.done'))
    const heard = caller.events
      .filter(({ type }) => type === 'conversation.item.input_audio_transcription.completed')
      .map(({ transcript }) => transcript)
    expect(heard).toEqual(['Weather?', 'Thanks.'])
    expect(count(caller, 'error')).toBe(0)
    expect(JSON.stringify(caller.events)).not.toContain('gemini')
    await caller.close()
    await until(() => upstream.open === 0 && sessions().length === 1)
    expect(sessions()[0]!.fields).toMatchObject({ input_tokens: 20, output_tokens: 8, responses: 3 })
  })

  it('connects where Google has it, with its key in a header', async () => {
    const upstream = await open(strict(faults, () => {}))
    const caller = await client()
    const { url, headers } = upstream.connections[0]!.message
    expect(url).toBe('/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent')
    expect(headers.authorization).toBe('Bearer upstream-key')
    await caller.close()
  })

  it('manual turns, at the right rates both ways', async () => {
    await open(
      strict(faults, async live => {
        expect(await live.next()).toEqual({ realtimeInput: { activityStart: {} } })
        expect(await live.next()).toEqual({ realtimeInput: { activityEnd: {} } })
        // 24 kHz came in and 16 kHz arrive. The resampler may hold back the last few samples.
        expect(Math.abs(live.heard - 32_000)).toBeLessThanOrEqual(64)
        live.send(spoken(48_000), TURN_COMPLETE)
      }),
    )
    const caller = await client()
    caller.send(session({ audio: { input: { turn_detection: null } } }))
    for (let sent = 0; sent < 1000; sent += 50) caller.send(append(50))
    caller.send({ type: 'input_audio_buffer.commit' })
    caller.send(CREATE)
    await came(caller, 'response.done')
    const bytes = caller.events
      .filter(({ type }) => type === 'response.output_audio.delta')
      .reduce((sum, { delta }) => sum + Buffer.from(delta, 'base64').length, 0)
    expect(bytes).toBe(48_000)
    await caller.close()
  })

  it('refuses what would be lost where the key does, and sends nothing of it', async () => {
    const upstream = await open(
      strict(faults, async live => {
        expect(live.setup).not.toHaveProperty('systemInstruction')
        await live.next()
        live.send(outputTranscript('Hello.'), TURN_COMPLETE)
      }),
      { group: { onLoss: 'refuse' } },
    )
    const caller = await client()
    caller.send({ event_id: 'e1', ...session({ instructions: 'Lost, too.', audio: { output: { speed: 1.5 } } }) })
    await came(caller, 'error')
    expect(caller.events.at(-1)).toMatchObject({ error: { code: 'cannot_express', event_id: 'e1' } })
    expect(count(caller, 'session.updated')).toBe(0)
    caller.send(userText('Hello'))
    caller.send(CREATE)
    await came(caller, 'response.done')
    await caller.close()
    await until(() => upstream.open === 0)
  })

  it('frames that are none are errors, and the session goes on', async () => {
    await open(
      strict(faults, async live => {
        await live.next()
        live.connection.send('no JSON')
        live.send({ unheardOf: {} }, content({ modelTurn: 7 }), calls({ id: 'x' }))
        live.send(outputTranscript('Fine.'), TURN_COMPLETE)
      }),
    )
    const caller = await client()
    caller.send(userText('Hello'))
    caller.send(CREATE)
    await came(caller, 'response.done')
    expect(count(caller, 'error')).toBe(3)
    expect(caller.events.at(-1)).toMatchObject({ response: { status: 'completed' } })
    await caller.close()
  })
})

describe('connections', () => {
  /** Answers complete turns with the number of its connection. */
  const answering = async (live: LiveConnection, index: number): Promise<void> => {
    for (;;) {
      const { clientContent } = await live.next()
      if ((clientContent as JsonObject)['turnComplete'] === true)
        live.send(outputTranscript(`Connection ${index}.`), TURN_COMPLETE, resumable(`h${index}`))
    }
  }
  const ask = async (caller: Client, times: number): Promise<string> => {
    caller.send(userText('Hello'))
    caller.send(CREATE)
    await came(caller, 'response.done', times)
    return caller.events.findLast(({ type }) => type === 'response.done').response.output[0].content[0].transcript
  }

  it('goAway: the session goes on in another connection, unnoticed', async () => {
    const upstream = await open(strict(faults, answering))
    const caller = await client()
    expect(await ask(caller, 1)).toBe('Connection 0.')
    const before = caller.events.length
    upstream.connections[0]!.send(GO_AWAY)
    await until(() => upstream.connections.length === 2 && upstream.open === 1)
    await until(() => upstream.connections[1]!.received.length === 1)
    expect(upstream.connections[1]!.received[0]).toMatchObject({ setup: { sessionResumption: { handle: 'h0' } } })
    expect(caller.events).toHaveLength(before)
    expect(await ask(caller, 2)).toBe('Connection 1.')
    expect(count(caller, 'error')).toBe(0)
    await caller.close()
    await until(() => upstream.open === 0)
  })

  it('a connection that breaks is made anew, and what the caller sends meanwhile arrives', async () => {
    const upstream = await open(strict(faults, answering))
    const caller = await client()
    await ask(caller, 1)
    upstream.connections[0]!.socket.terminate()
    expect(await ask(caller, 2)).toBe('Connection 1.')
    expect(count(caller, 'error')).toBe(0)
    await caller.close()
    await until(() => upstream.open === 0)
  })

  it('a response that breaks off is reported as failed, and the session goes on', async () => {
    const cut = Promise.withResolvers<void>()
    const upstream = await open(
      strict(faults, async (live, index) => {
        if (index > 0) return answering(live, index)
        live.send(resumable('h'))
        await live.next()
        live.send(outputTranscript('Half'))
        await cut.promise
        live.connection.socket.terminate()
      }),
    )
    const caller = await client()
    const half = ask(caller, 1)
    await came(caller, 'response.output_audio_transcript.delta')
    cut.resolve()
    expect(await half).toBe('Half')
    expect(caller.events.findLast(({ type }) => type === 'response.done').response.status).toBe('failed')
    expect(await ask(caller, 2)).toBe('Connection 1.')
    await caller.close()
    await until(() => upstream.open === 0)
  })

  it('without a handle, the session ends with the connection', async () => {
    const upstream = await open(
      strict(faults, async live => {
        await live.next()
        live.send(outputTranscript('Half'))
        live.connection.socket.terminate()
      }),
    )
    const caller = await client()
    caller.send(userText('Hello'))
    caller.send(CREATE)
    await until(() => caller.closed !== undefined)
    expect(caller.closed).toBe(1011)
    expect(typesOf(caller).slice(-2)).toEqual(['response.done', 'error'])
    await until(() => upstream.open === 0 && sessions().length === 1)
  })

  it('a setup that is refused ends the session with the reason, but not the upstream’s name of the model', async () => {
    const upstream = await open(async connection => {
      await connection.until(1)
      connection.socket.close(1008, 'models/gemini-live-secret is not found for API version v1beta')
    })
    const caller = await client()
    caller.send(userText('Hello'))
    await until(() => caller.closed !== undefined)
    expect(caller.closed).toBe(1008)
    expect(caller.events.at(-1)).toMatchObject({ type: 'error' })
    expect(JSON.stringify(caller.events)).not.toContain('gemini-live-secret')
    await until(() => upstream.open === 0)
  })

  it('no connection is left wherever either side breaks off', async () => {
    const play = [
      resumable('h'),
      outputTranscript('One'),
      spoken(480),
      calls({ id: 'fc', name: 'find' }),
      GO_AWAY,
      TURN_COMPLETE,
    ]
    for (const side of ['upstream', 'caller'])
      for (let at = 0; at <= play.length; at++) {
        const upstream = await open(
          strict(faults, async (live, index) => {
            live.send(...play.slice(0, index === 0 ? at : 0))
            if (side === 'upstream') live.connection.socket.terminate()
          }),
        )
        const caller = await client()
        caller.send(userText('Hello'))
        caller.send(CREATE)
        if (side === 'caller') {
          await until(() => caller.events.length >= Math.min(at, 5))
          caller.socket.terminate()
        } else await until(() => caller.closed !== undefined)
        await until(() => upstream.open === 0 && sessions().length === 1)
        await testServer!.server.close(0)
        await upstream.close()
      }
  })
})
