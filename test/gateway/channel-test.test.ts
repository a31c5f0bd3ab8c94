import { expect, it } from 'vitest'
import { type ChannelTestOptions, testChannel } from '../../src/gateway/channel-test.ts'
import { sumOf } from '../../src/upstreams/channel/health.ts'
import { Channel } from '../../src/upstreams/channel/index.ts'
import { channelAt } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import { TIMED } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'

const { openUpstream } = opener()

const log = { info: () => {}, warn: () => {}, error: () => {} }
const OPTIONS = { model: undefined, facts: new Map(), log, timeout: 20_000 } as unknown as ChannelTestOptions

async function tested(script: Script, fields: Parameters<typeof channelAt>[1] = {}, options = OPTIONS) {
  const upstream = await openUpstream(script)
  const channel = new Channel(channelAt(upstream.address, fields))
  const result = await testChannel(channel, options)
  return { channel, result, seen: upstream.seen }
}

it('ends after its time, and the channel is at fault', TIMED, async () => {
  const { channel, result } = await tested(() => {}, {}, { ...OPTIONS, timeout: 200 })
  expect(result).toMatchObject({ ok: false, error: { kind: 'timed-out' } })
  expect(result.latency).toBeGreaterThanOrEqual(190)
  expect(result.latency).toBeLessThan(2000)
  expect(sumOf(channel.stats.snapshot(), 1)).toEqual({ requests: 1, errors: 1 })
  expect(channel.health.inFlight).toBe(0)
})

it('tells neither key nor inner address of the upstream, whatever it says', async () => {
  const { channel, result } = await tested((response, { headers }) =>
    response
      .writeHead(500, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { message: `no ${headers['authorization']} at http://${headers.host}/v1` } })),
  )
  expect(result).toMatchObject({ ok: false, status: 500 })
  const told = JSON.stringify([result, channel.stats.snapshot()])
  expect(told).not.toContain('upstream-key-1234')
  expect(told).not.toContain('127.0.0.1')
})

it('embeds where the model is one for that, and sends nothing of anybody', async () => {
  const models = { named: new Map([['text-embedding-x', 'e']]), patterns: [] }
  const vectors = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }], model: 'e' }
  const script: Script = response =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(vectors))
  const chat = channelAt('').formats[0]!
  const upstream = await openUpstream(script)
  const at = { ...chat, baseUrl: `${upstream.address}/v1` }
  const channel = new Channel(channelAt(upstream.address, { models, formats: [at, { ...at, format: 'embeddings' }] }))
  expect(await testChannel(channel, OPTIONS)).toMatchObject({ ok: true, work: 'embedding', format: 'embeddings' })
  expect(JSON.parse(upstream.seen[0]!.text)).toMatchObject({ model: 'e', input: ['ping'] })
})

it('refuses a model that the channel does not have', async () => {
  const upstream = await openUpstream(() => {})
  const channel = new Channel(channelAt(upstream.address))
  await expect(testChannel(channel, { ...OPTIONS, model: 'other' })).rejects.toMatchObject({
    error: { kind: 'not-found' },
  })
  expect(upstream.seen).toEqual([])
})
