import { afterEach, expect, it } from 'vitest'
import { TestServer } from '../builders/gateway.ts'
import { until } from '../builders/time.ts'
import { Client } from '../sockets/client.ts'
import { playing } from './sessions.ts'
import { channelTo, ScriptedUpstream } from './upstream.ts'

let testServer: TestServer | undefined
let upstream: ScriptedUpstream | undefined

afterEach(async () => {
  await testServer?.server.close(0)
  await upstream?.close()
})

/** An upstream whose sessions have no modalities. */
async function open(headers: { readonly [name: string]: string }): Promise<Client> {
  upstream = await ScriptedUpstream.open(playing([]))
  testServer = await TestServer.open([channelTo(upstream, { dialect: { layout: 'mixed' } })])
  return Client.open(testServer.server.address, headers, '/v1/realtime?model=voice')
}

const UPDATE = { type: 'session.update', event_id: 'u1', session: { type: 'realtime', output_modalities: ['text'] } }

it('a loss is in the line of the log, once', async () => {
  const client = await open({})
  for (let count = 0; count < 2; count++) client.send(UPDATE)
  await until(() => client.events.filter(({ type }) => type === 'session.updated').length === 2)
  await client.close()
  await until(() => testServer!.lines.some(({ message }) => message === 'session'))
  const { fields } = testServer!.lines.find(({ message }) => message === 'session')!
  expect(fields['losses']).toEqual(['settings.modalities no-modalities'])
})

it('where losses are refused, it is an error event and nothing is sent', async () => {
  const client = await open({ 'interlingua-on-loss': 'refuse' })
  for (let count = 0; count < 2; count++) client.send(UPDATE)
  await until(() => client.events.filter(({ type }) => type === 'error').length === 2)
  const [error] = client.events.filter(({ type }) => type === 'error')
  expect(error.error).toMatchObject({ code: 'cannot_express', param: 'settings.modalities', event_id: 'u1' })
  const updates = upstream!.connections[0]!.received.filter(({ type }) => type === 'session.update')
  expect(updates).toHaveLength(1)
})
