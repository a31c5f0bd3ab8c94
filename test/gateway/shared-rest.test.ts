import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/canonical/node.ts'
import { SharedRest } from '../../src/gateway/shared-rest.ts'
import type { Bus, Listener } from '../../src/store/cluster/bus.ts'
import { Channel } from '../../src/upstreams/channel/index.ts'
import { channelAt } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { describeWithRedis, sharedRedis } from '../builders/redis.ts'
import { pause, TIMED, until } from '../builders/time.ts'

/** The channels of two processes with a common bus, and the messages that pass over it. */
function pair() {
  const passed: Json[] = []
  const listeners: Listener[] = []
  const side = (index: number) => {
    const bus: Bus = {
      publish: (_, message) => {
        passed.push(message)
        listeners[1 - index]!(JSON.parse(JSON.stringify(message)))
      },
      subscribe: (_, listener) => {
        listeners[index] = listener
        return () => {}
      },
      close: async () => {},
    }
    const channel = new Channel(channelAt('http://127.0.0.1:9'))
    const shared = new SharedRest(bus, name => (name === channel.config.name ? channel : undefined))
    shared.follow(channel)
    return { resting: channel.resting, shared }
  }
  return { sides: [side(0), side(1)] as const, passed, receive: (message: Json) => listeners[1]!(message) }
}

describe('what rests at one process', TIMED, () => {
  test('rests at the other as long, and is awake there when it answers', async () => {
    const { sides, passed } = pair()
    const [one, other] = sides
    const now = Date.now()
    one.resting.restChannel(now + 5000)
    one.resting.restModel('m', now + 9000, now)
    await until(() => other.resting.until !== undefined)
    expect(Math.abs(other.resting.until! - (now + 5000))).toBeLessThan(500)
    expect(Math.abs(other.resting.models.get('m')! - (now + 9000))).toBeLessThan(500)
    expect(passed).toHaveLength(1)

    other.resting.wake('m', performance.now())
    await until(() => one.resting.until === undefined)
    expect(one.resting.models.size).toBe(0)
    await pause(60)
    expect(passed).toHaveLength(2)
  })

  test('is tried by one request if it fell silent, at the other, too', async () => {
    const [one, other] = pair().sides
    const now = Date.now()
    one.resting.restChannel(now + 5000, { silent: true })
    await until(() => other.resting.isSilent)
    expect(other.resting.beginTrial(now)).toBeUndefined()
    expect(other.resting.beginTrial(now + 6000)).toBeTypeOf('function')
    expect(other.resting.rests(now + 6000)).toBe(true)
    expect(other.resting.beginTrial(now + 6000)).toBeUndefined()
    other.resting.wake('m', performance.now())
    expect([other.resting.isSilent, other.resting.until]).toEqual([false, undefined])
    await until(() => !one.resting.isSilent)
  })

  test('is told once, not with every failure of many', async () => {
    const { sides, passed } = pair()
    const now = Date.now()
    for (let count = 0; count < 1000; count++) sides[0].resting.restModel('m', now + 5000 + count / 10, now)
    await pause(60)
    for (let count = 0; count < 1000; count++) sides[0].resting.restModel('m', now + 5200 + count / 10, now)
    sides[0].resting.wake('another', performance.now())
    await pause(60)
    expect(passed).toHaveLength(1)
  })

  test('is no concern of unknown channels, and no notice puts one to rest for hours or breaks anything', () => {
    const { sides, receive } = pair()
    const { resting } = sides[1]
    const notices: Json[] = [null, 'x', [null, 1, [], {}], [{ channel: 'unknown', milliseconds: 5000 }]]
    for (const notice of notices) receive(notice)
    receive([{ channel: 'secret-channel', milliseconds: 'long' }])
    receive([{ channel: 'secret-channel', model: 7, milliseconds: -1 }])
    expect(resting.until).toBeUndefined()
    receive([{ channel: 'secret-channel', milliseconds: 1e12 }])
    expect(resting.until! - Date.now()).toBeLessThanOrEqual(60_000)
  })
})

describeWithRedis('over Redis', () => {
  const { openUpstream, openGateway } = opener()

  test('another instance does not try the channel that failed here', TIMED, async () => {
    const { url: redis } = await sharedRedis()
    const bad = await openUpstream(response => {
      response.statusCode = 503
      response.end('{}')
    })
    const good = await openUpstream(response =>
      response
        .setHeader('content-type', 'application/json')
        .end('{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}]}'),
    )
    const channels = [
      channelAt(bad.address, { name: 'shared-bad' }),
      channelAt(good.address, { name: 'shared-good', priority: 1 }),
    ]
    const [one, other] = [
      await openGateway(channels, { config: { redis } }),
      await openGateway(channels, { config: { redis } }),
    ]
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi.' }] }
    await pause(1000)
    expect((await one.ask(CHAT_PATH, body)).status).toBe(200)
    expect(bad.seen).toHaveLength(1)
    await pause(500)
    expect((await other.ask(CHAT_PATH, body)).status).toBe(200)
    expect(bad.seen).toHaveLength(1)
    expect(good.seen).toHaveLength(2)
  })
})
