import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { ChannelConfig } from '../../src/config/index.ts'
import { Channels } from '../../src/gateway/channels.ts'
import type { Channel } from '../../src/upstreams/channel/index.ts'
import { helloWhole } from '../builders/chat.ts'
import { channelAt, configOf } from '../builders/config.ts'
import { KEY_A, KEY_B, KEY_C, poolAt } from '../builders/key-pools.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { until } from '../builders/time.ts'
import { holds } from '../laws/runs.ts'

/* What a channel knows about its upstream while an operator edits it under load: rests, quotas and open requests. */

const ADDRESS = 'http://127.0.0.1:9'
const [HOUR, LIMITS] = [3_600_000, { rpm: 2, concurrent: 3 }]

let open: Channels | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

function channelsOf(config: ChannelConfig): Channels {
  open = new Channels([config])
  return open
}

const keyOf = (channels: Channels, key: string): Channel | undefined =>
  channels.all[0]!.keys?.find(({ config }) => config.key === key)

/** A pool whose first key was refused and whose second has used up its quota. */
function usedPool(): Channels {
  const channels = channelsOf(poolAt(ADDRESS, [{ key: KEY_A }, { key: KEY_B, ...LIMITS }]))
  keyOf(channels, KEY_A)!.resting.restChannel(Date.now() + HOUR, { refusal: 'unauthenticated' })
  keyOf(channels, KEY_A)!.resting.restModel('m', Date.now() + HOUR, Date.now())
  for (const _ of [1, 2]) keyOf(channels, KEY_B)!.limits!.sent()
  keyOf(channels, KEY_B)!.countSession()
  channels.all[0]!.resting.restModel('m', Date.now() + HOUR, Date.now())
  return channels
}

describe('a reload that changes a pool', () => {
  const edits = fc.record({
    more: fc.constantFrom('', ', priority: 3', ', weight: 7', ', timeout: { first_byte: 9s }', ', affinity: false'),
    others: fc.subarray([{ key: KEY_C }, { key: `${KEY_C}-2`, weight: 2 }]),
    weight: fc.constantFrom(1, 5),
    isReversed: fc.boolean(),
    times: fc.integer({ min: 1, max: 3 }),
  })

  it('keeps the rests, quotas and open requests of the keys that stay', () =>
    holds(edits, ({ more, others, weight, isReversed, times }) => {
      const channels = usedPool()
      const keys = [{ key: KEY_A, weight }, { key: KEY_B, weight, ...LIMITS }, ...others]
      for (let time = 0; time < times; time++)
        channels.reload([
          poolAt(ADDRESS, isReversed ? keys.toReversed() : keys, { more: `${more}, max_concurrent: ${time + 4}` }),
        ])
      const [refused, spent] = [keyOf(channels, KEY_A)!, keyOf(channels, KEY_B)!]
      expect(refused.resting.refusal).toBe('unauthenticated')
      expect(refused.resting.models.get('m')).toBeGreaterThan(Date.now())
      expect(spent.health).toMatchObject({ isSpent: true, inFlight: 1 })
      expect(channels.all[0]!.health.inFlight).toBe(1)
      expect(channels.all[0]!.resting.models.size).toBe(1)
      for (const { key } of others) expect(keyOf(channels, key)!.health).toMatchObject({ inFlight: 0 })
      // An answer ends the rest of the key and of its channel.
      refused.resting.wake('m', performance.now())
      expect([refused.resting.until, channels.all[0]!.resting.models.size]).toEqual([undefined, 0])
    }))

  it.each([
    ['another address', poolAt('http://127.0.0.1:8', [{ key: KEY_A }, { key: KEY_B, ...LIMITS }])],
    ['other headers', poolAt(ADDRESS, [{ key: KEY_A }, { key: KEY_B, ...LIMITS }], { more: ', headers: { x: y }' })],
  ])('forgets them for %s', (_, config) => {
    const channels = usedPool()
    channels.reload([config])
    expect(keyOf(channels, KEY_A)!.resting.until).toBeUndefined()
    expect(channels.all[0]!.health.inFlight).toBe(0)
  })

  it('gives a key new quotas if they were changed', () => {
    const channels = usedPool()
    channels.reload([poolAt(ADDRESS, [KEY_A, { key: KEY_B, rpm: 3 }])])
    expect(keyOf(channels, KEY_B)!.health.isSpent).toBe(false)
  })
})

describe('a channel with one key', () => {
  it('rests on if its weight is changed, and no longer if its key is', () => {
    const channels = channelsOf(channelAt(ADDRESS))
    channels.all[0]!.resting.restChannel(Date.now() + 5000)
    channels.reload([channelAt(ADDRESS, { weight: 2 })])
    expect(channels.all[0]!.resting.until).toBeGreaterThan(Date.now())
    channels.reload([channelAt(ADDRESS, { weight: 2, key: 'a-new-upstream-key' })])
    expect(channels.all[0]!.resting.until).toBeUndefined()
  })
})

describe('over HTTP', () => {
  const { openGateway, openUpstream } = opener()

  it('a reload while a request runs does not exceed the limit of open requests, and frees its slot at its end', async () => {
    const answers: (() => void)[] = []
    const upstream = await openUpstream((response, seen) => answers.push(() => helloWhole(response, seen)))
    const channel = channelAt(upstream.address, { maxConcurrent: 1 })
    const gateway = await openGateway([channel])
    const ask = () => gateway.ask(CHAT_PATH, { model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
    const first = ask()
    await until(() => answers.length === 1)
    for (const weight of [2, 3, 4]) gateway.server.reload(configOf([{ ...channel, weight }]))
    expect((await ask()).status).toBe(503)
    answers[0]!()
    expect((await first).status).toBe(200)
    const second = ask()
    await until(() => answers.length === 2)
    answers[1]!()
    expect((await second).status).toBe(200)
  })
})
