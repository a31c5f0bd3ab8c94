import { afterEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { TestServer } from '../builders/gateway.ts'
import { until } from '../builders/time.ts'
import { Client } from '../sockets/client.ts'
import { channelTo, ScriptedUpstream } from '../voice/upstream.ts'
import { DIALECTS, SESSIONS, type SessionRecording } from './realtime.ts'
import { where } from './recording.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Recorded upstreams of one generation, with the header of a caller of the same generation. */
const GENERATIONS = [
  ['voice-live', { 'openai-beta': 'realtime=v1' }],
  ['openai', {}],
  ['azure', {}],
] as const

const CASES = GENERATIONS.flatMap(([vendor, headers]) =>
  SESSIONS.filter(one => one.vendor === vendor && isWhole(one)).map(one => [one.name, one, headers] as const),
)

function isWhole({ frames }: SessionRecording): boolean {
  return frames.find(({ direction }) => direction === 'received')?.data['type'] === 'session.created'
}

/** Returns a frame in a spelling that no writer of this project uses. */
const spelled = (frame: JsonObject): string => JSON.stringify(frame).replace('{', '{ ').replace(/\}$/, ' }')

/** Returns a frame as the caller sees it: its session has the caller's model and the gateway's id. */
const shown = (frame: JsonObject): JsonObject =>
  frame['session'] === undefined
    ? frame
    : { ...frame, session: { ...(frame['session'] as JsonObject), id: expect.any(String), model: 'voice' } as never }

describe.skipIf(CASES.length === 0)(`recorded sessions are relayed unchanged${where}`, () => {
  test.each(CASES)('%s', async (_, { frames, vendor }, headers) => {
    const all = (way: string) => frames.filter(({ direction }) => direction === way).map(({ data }) => data)
    const [first, ...others] = all('received')
    const upstream = await ScriptedUpstream.open(connection => connection.send(spelled(first!)))
    const model = String((first!['session'] as JsonObject)['model'])
    const channel = channelTo(upstream, { dialect: DIALECTS[vendor]!, models: { voice: model } })
    const testServer = await TestServer.open([channel])
    closing.push(
      () => upstream.close(),
      () => testServer.server.close(0),
    )
    const client = await Client.open(testServer.server.address, headers, '/v1/realtime?model=voice')
    closing.push(() => client.close())
    const texts: string[] = []
    const received: string[] = []
    client.socket.on('message', data => received.push(String(data)))
    const connection = upstream.connections[0]!
    connection.socket.on('message', data => texts.push(String(data)))
    for (const frame of all('sent')) client.send(spelled(frame))
    for (const frame of others) connection.send(spelled(frame))
    await until(() => texts.length === all('sent').length && client.events.length === others.length + 1)
    expect(texts).toEqual(all('sent').map(spelled))
    expect(client.events).toEqual([first!, ...others].map(shown))
    const plain = others.filter(frame => frame['session'] === undefined && frame['type'] !== 'error')
    expect(received.filter(text => !/"session"|"type":"error"/.test(text))).toEqual(plain.map(spelled))
  })
})
