import { afterEach, describe, expect, test } from 'vitest'
import { TestServer } from '../builders/gateway.ts'
import { until } from '../builders/time.ts'
import { Client, type Event } from '../sockets/client.ts'
import { channelTo, ScriptedUpstream } from '../voice/upstream.ts'
import { DIALECTS, type SessionRecording } from './realtime.ts'
import { play, WHOLE } from './realtime-play.ts'
import { where } from './recording.ts'

let testServer: TestServer | undefined
let upstream: ScriptedUpstream | undefined

afterEach(async () => {
  await testServer?.server.close(0)
  await upstream?.close()
})

async function run(session: SessionRecording, headers: { readonly [name: string]: string }): Promise<Event[]> {
  upstream = await ScriptedUpstream.open(connection => play(connection, session.frames))
  testServer = await TestServer.open([channelTo(upstream, { dialect: DIALECTS[session.vendor]! })])
  const client = await Client.open(testServer.server.address, headers, '/v1/realtime?model=voice')
  const count = session.frames.filter(({ data }) => data['type'] === 'response.done').length
  const done = () => client.events.filter(({ type }) => type === 'response.done').length
  let responses = 0
  await until(() => client.events.length > 0)
  for (const { direction, data } of session.frames) {
    if (direction === 'sent') client.send(data)
    else if (data['type'] === 'response.done') {
      const expected = ++responses
      await until(() => done() >= expected)
    }
  }
  await until(() => done() === count)
  const { events } = client
  await client.close()
  await until(() => upstream!.open === 0)
  return events
}

const textsOf = (events: readonly Event[]): unknown[] =>
  events
    .filter(({ type }) => type === 'response.done')
    .map(({ response }) =>
      response.output.map(
        (item: Event) => item.arguments ?? item.content?.map((part: Event) => part.text ?? part.transcript),
      ),
    )

describe.skipIf(WHOLE.length === 0)(`recorded sessions through the gateway${where}`, () => {
  test.each(WHOLE.map(one => [one.name, one] as const))('%s', async (_, session) => {
    const expected = textsOf(session.frames.filter(({ direction }) => direction === 'received').map(({ data }) => data))
    const ga = await run(session, {})
    expect(textsOf(ga)).toEqual(expected)
    expect(ga.filter(({ type }) => type === 'error')).toEqual([])
    await testServer!.server.close(0)
    await upstream!.close()
    const beta = await run(session, { 'openai-beta': 'realtime=v1' })
    expect(textsOf(beta)).toEqual(expected)
    expect(beta.filter(({ type }) => type === 'error' || String(type).includes('output_text'))).toEqual([])
    const { fields } = testServer!.lines.find(({ message }) => message === 'session')!
    expect(fields['responses']).toBe(expected.length)
  })
})
