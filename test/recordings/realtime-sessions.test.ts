import { afterEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { House } from '../builders/gateway.ts'
import { until } from '../builders/time.ts'
import { type Connection, channelTo, ScriptedUpstream } from '../realtime/upstream.ts'
import { Client, type Event } from '../sockets/client.ts'
import { DIALECTS, type Frame, SESSIONS, type SessionRecording } from './realtime.ts'
import { where } from './recording.ts'

let house: House | undefined
let upstream: ScriptedUpstream | undefined

afterEach(async () => {
  await house?.server.close(0)
  await upstream?.close()
})

/** Sessions that begin where a connection does, and last for one. */
const WHOLE = SESSIONS.filter(
  ({ name, vendor, frames }) =>
    vendor in DIALECTS && !name.includes('session-resumption') && frames[0]?.data['type'] === 'session.created',
)

/** Plays the upstream's part: each frame the client sent is waited for, updates of the gateway's own are acknowledged. */
async function play(connection: Connection, frames: readonly Frame[]): Promise<void> {
  let taken = 0
  const updated = frames.find(({ data }) => data['type'] === 'session.updated')?.data
  const begun = frames.findIndex(({ data }) => data['type'] === 'session.update')
  for (const [index, { direction, data }] of frames.entries()) {
    if (direction === 'received') {
      connection.send(data)
      continue
    }
    for (;;) {
      await connection.until(taken + 1)
      const event = connection.received[taken++]!
      if (event['type'] === data['type'] && !(index === begun && isOwn(event))) break
      if (event['type'] === 'session.update' && updated !== undefined) connection.send(updated)
    }
  }
}

/** The gateway's first update sets nothing but audio formats. */
const isOwn = ({ session }: JsonObject): boolean => {
  const { type: _, audio: __, input_audio_format: ___, output_audio_format: ____, ...rest } = session as JsonObject
  return Object.keys(rest).length === 0
}

async function run(session: SessionRecording, headers: { readonly [name: string]: string }): Promise<Event[]> {
  upstream = await ScriptedUpstream.open(connection => play(connection, session.frames))
  house = await House.open([channelTo(upstream, { dialect: DIALECTS[session.vendor]! })])
  const client = await Client.open(house.server.address, headers, '/v1/realtime?model=voice')
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
    await house!.server.close(0)
    await upstream!.close()
    const beta = await run(session, { 'openai-beta': 'realtime=v1' })
    expect(textsOf(beta)).toEqual(expected)
    expect(beta.filter(({ type }) => type === 'error' || String(type).includes('output_text'))).toEqual([])
    const { fields } = house!.lines.find(({ message }) => message === 'session')!
    expect(fields['responses']).toBe(expected.length)
  })
})
