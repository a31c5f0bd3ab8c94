import { afterEach, describe, expect, test } from 'vitest'
import { TestServer } from '../builders/gateway.ts'
import { until } from '../builders/time.ts'
import { Client } from '../sockets/client.ts'
import { channelTo, ScriptedUpstream } from '../voice/upstream.ts'
import { DIALECTS, type Frame, type SessionRecording } from './realtime.ts'
import { play, WHOLE } from './realtime-play.ts'
import { where } from './recording.ts'

/* Either side of every recorded session breaks off at every message of the upstream, and no connection remains open. */

let testServer: TestServer | undefined
let upstream: ScriptedUpstream | undefined

afterEach(async () => {
  await testServer?.server.close(0)
  await upstream?.close()
})

/** Both paths: frame by frame, and through canonical events. */
const PATHS = [
  ['relayed', {}],
  ['translated', { 'openai-beta': 'realtime=v1' }],
] as const

/** Number of sessions at once. */
const LANES = 8
/** Timeout of a session that an upstream never starts, in milliseconds. It occurs hundreds of times. */
const timeout = { connect: 10_000, firstByte: 2000, idle: 2000 }

/** Returns the frames up to the upstream's `count`th, at which it breaks off. */
function upTo(frames: readonly Frame[], count: number): readonly Frame[] {
  let received = 0
  const end = frames.findIndex(({ direction }) => direction === 'received' && ++received > count)
  return end < 0 ? frames : frames.slice(0, end)
}

/** Sends the events of the recorded client, each after the responses that it waited for, until the session ends. */
async function talk(client: Client, frames: readonly Frame[]): Promise<void> {
  const done = () => client.events.filter(({ type }) => type === 'response.done').length
  let responses = 0
  for (const { direction, data } of frames) {
    if (client.closed !== undefined) return
    if (direction === 'sent') client.send(data)
    else if (data['type'] === 'response.done') {
      const expected = ++responses
      await until(() => done() >= expected || client.closed !== undefined)
    }
  }
}

async function eachCount(count: number, run: (at: number) => Promise<void>): Promise<void> {
  const counts = Array.from({ length: count }, (_, at) => at).values()
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (const at of counts) await run(at)
    }),
  )
}

const open = (headers: { readonly [name: string]: string }, model = 'voice') =>
  Client.open(testServer!.server.address, headers, `/v1/realtime?model=${model}`)

const messagesOf = ({ frames }: SessionRecording): number =>
  frames.filter(({ direction }) => direction === 'received').length

const rows = WHOLE.flatMap(session => PATHS.map(([path, headers]) => [session.name, path, session, headers] as const))

describe.skipIf(rows.length === 0)(`recorded sessions that break off${where}`, () => {
  test.each(rows)('%s: %s, by the upstream', async (_, __, session, headers) => {
    upstream = await ScriptedUpstream.open(async connection => {
      const { searchParams } = new URL(connection.message.url!, 'ws://upstream')
      await play(connection, upTo(session.frames, Number(searchParams.get('model'))))
      connection.socket.terminate()
    })
    const count = messagesOf(session)
    // The upstream's name of the model is the number of messages that it sends.
    const models = Object.fromEntries(Array.from({ length: count }, (_, at) => [`voice-${at}`, `${at}`]))
    testServer = await TestServer.open([
      { ...channelTo(upstream, { dialect: DIALECTS[session.vendor]!, models }), timeout },
    ])
    await eachCount(count, async at => {
      const client = await open(headers, `voice-${at}`).catch(() => undefined)
      // Before the session has started, which takes four messages at xAI, the caller gets an HTTP answer instead.
      if (client === undefined) return expect(at).toBeLessThanOrEqual(4)
      await talk(client, session.frames)
      await until(() => client.closed !== undefined)
      expect(client.closed).toBe(1011)
    })
    await until(() => upstream!.open === 0)
    expect(upstream.connections.length).toBeGreaterThanOrEqual(count)
  })

  test.each(rows)('%s: %s, by the caller', async (_, __, session, headers) => {
    upstream = await ScriptedUpstream.open(connection => play(connection, session.frames))
    testServer = await TestServer.open([channelTo(upstream, { dialect: DIALECTS[session.vendor]! })])
    await eachCount(messagesOf(session), async at => {
      const client = await open(headers)
      client.socket.on('message', () => client.events.length >= at && client.socket.terminate())
      await talk(client, session.frames)
      client.socket.terminate()
    })
    await until(() => upstream!.open === 0)
  })
})
