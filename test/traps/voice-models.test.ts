import { afterEach, expect, test } from 'vitest'
import type { ChannelConfig } from '../../src/config/index.ts'
import { REALTIME } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { until } from '../builders/time.ts'
import { Client } from '../sockets/client.ts'
import { channelTo, created, type Script, ScriptedUpstream } from '../voice/upstream.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const CASCADE = { ...REALTIME, cascade: { transcription: 'ears', speech: 'mouth' } }

const creating: Script = connection => connection.send(created())

/** OpenAI's answer to a model that has no realtime sessions. */
const refusing: Script = connection => {
  const message = 'Model "upstream" is not supported in realtime mode.'
  connection.send({ type: 'error', error: { type: 'invalid_request_error', code: 'invalid_model', message } })
  connection.socket.close(4000)
}

interface World {
  readonly upstreamModel: string
  readonly formats?: readonly string[]
  readonly script?: Script
  readonly interface?: string
}

/** Opens a caller's session at a gateway with a cascade, whose only channel has these formats. */
async function open({ upstreamModel, formats = ['realtime'], script = creating, ...facts }: World) {
  const upstream = await ScriptedUpstream.open(script)
  const channel = channelTo(upstream, { models: { voice: upstreamModel } })
  const spoken: ChannelConfig['formats'] = formats.map(format => ({ ...channel.formats[0]!, format }))
  const testServer = await TestServer.open([{ ...channel, formats: spoken }], {
    config: { realtime: CASCADE, models: new Map([['voice', { id: 'voice', input: [], output: [], ...facts }]]) },
  })
  closing.push(
    () => upstream.close(),
    () => testServer.server.close(0),
  )
  const client = await Client.open(testServer.server.address, {}, '/v1/realtime?model=voice')
  closing.push(() => client.close())
  await until(() => client.events.length > 0)
  expect(client.events[0]).toMatchObject({ type: 'session.created', session: { model: 'voice' } })
  return upstream.connections.map(({ message }) => message.url)
}

const NAMES = ['my-deployment', 'prod-01', 'qwen3-omni-flash', 'gpt-4o', 'gpt-realtime']

test.each(NAMES)('trap 117: a channel that speaks realtime alone is reached whatever its model: %s', async name => {
  expect(await open({ upstreamModel: name })).toEqual([`/v1/realtime?model=${name}`])
})

test.each(['my-deployment', 'prod-01'])(
  'trap 117: so is one that has text models, too, where nothing is known of the model: %s',
  async name => {
    expect(await open({ upstreamModel: name, formats: ['chat', 'realtime'] })).toEqual([`/v1/realtime?model=${name}`])
  },
)

test('trap 117: a cascade follows where such a channel refuses the model', async () => {
  const urls = await open({ upstreamModel: 'prod-01', formats: ['chat', 'realtime'], script: refusing })
  expect(urls).toEqual(['/v1/realtime?model=prod-01'])
})

test('trap 117: a name that sounds like a voice is no session of a channel that has none', async () => {
  expect(await open({ upstreamModel: 'gpt-realtime-voice', formats: ['chat'] })).toEqual([])
})

test.each([
  ['chat', 0],
  ['realtime', 1],
])('trap 117: the operator’s interface decides: %s', async (spoken, connections) => {
  const urls = await open({ upstreamModel: 'gpt-realtime', formats: ['chat', 'realtime'], interface: spoken })
  expect(urls).toHaveLength(connections)
})

test('trap 117: a listed text model of a channel that speaks both is not dialled', async () => {
  expect(await open({ upstreamModel: 'gpt-4o-mini', formats: ['chat', 'realtime'] })).toEqual([])
})
