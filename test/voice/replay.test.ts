import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { type Demo, openDemo } from '../builders/demo.ts'
import { TestServer } from '../builders/gateway.ts'
import { until } from '../builders/time.ts'
import { Client, type Event } from '../sockets/client.ts'

let replay: Demo
let testServer: TestServer

beforeAll(async () => {
  replay = await openDemo()
  testServer = await TestServer.open(replay.channels, { config: { realtime: replay.realtime } })
})

afterAll(async () => {
  await testServer.server.close(0)
  await replay.close()
})

const NAMINGS = [
  ['GA', {}],
  ['the beta', { 'openai-beta': 'realtime=v1' }],
] as const

describe.each(NAMINGS)('voice sessions of the demo, by names of %s', (_, headers) => {
  const open = () => Client.open(testServer.server.address, headers, '/v1/realtime?model=replay')
  const isBeta = 'openai-beta' in headers

  const session = (settings: JsonObject): JsonObject => ({
    type: 'session.update',
    session: { type: 'realtime', ...settings },
  })

  async function respond(client: Client): Promise<Event[]> {
    const from = client.events.length
    client.send({ type: 'response.create' })
    await until(() => client.events.slice(from).some(({ type }) => type === 'response.done'))
    return client.events.slice(from)
  }

  it('answers in text', async () => {
    const client = await open()
    client.send(session({ output_modalities: ['text'] }))
    const events = await respond(client)
    const name = isBeta ? 'response.text.delta' : 'response.output_text.delta'
    const words = events.filter(({ type }) => type === name).map(({ delta }) => delta)
    expect(words.join('')).toBe('Hello! This answer was recorded: no model was asked.')
    await client.close()
  })

  it('answers in sound', async () => {
    const client = await open()
    const events = await respond(client)
    const name = isBeta ? 'response.audio.delta' : 'response.output_audio.delta'
    const chunks = events.filter(({ type }) => type === name).map(({ delta }) => Buffer.from(delta, 'base64'))
    expect(Buffer.concat(chunks).equals(readFileSync('fixtures/realtime/hello.pcm'))).toBe(true)
    await client.close()
  })

  it('calls a function, and answers with its result', async () => {
    const client = await open()
    client.send(session({ tools: [{ type: 'function', name: 'get_weather', parameters: { type: 'object' } }] }))
    const content = [{ type: 'input_text', text: 'What is the weather in Turin?' }]
    client.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } })
    const first = await respond(client)
    const done = first.find(({ type }) => type === 'response.function_call_arguments.done')
    expect(done).toMatchObject({ name: 'get_weather', arguments: expect.stringContaining('Turin') })
    client.send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: done.call_id, output: '{"found":1}' },
    })
    const second = await respond(client)
    expect(second.find(({ type }) => type === 'response.done').response.output[0].type).toBe('message')
    await client.close()
  })

  it('hears a turn end', async () => {
    const client = await open()
    for (const audio of [readFileSync('fixtures/realtime/hello.pcm'), Buffer.alloc(72_000)])
      client.send({ type: 'input_audio_buffer.append', audio: audio.toString('base64') })
    await until(() => client.events.some(({ type }) => type === 'response.done'))
    const types = client.events.map(({ type }) => type).filter(type => type.startsWith('input_audio_buffer.'))
    expect(types).toEqual(['speech_started', 'speech_stopped', 'committed'].map(word => `input_audio_buffer.${word}`))
    await client.close()
  })
})
