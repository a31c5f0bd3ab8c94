import { expect, test } from 'vitest'
import type { Json } from '../../src/canonical/node.ts'
import { SharedRest } from '../../src/gateway/shared-rest.ts'
import type { Bus, Listener } from '../../src/store/cluster/bus.ts'
import { Channel } from '../../src/upstreams/channel/index.ts'
import { KEY_A, KEY_B, poolAt } from '../builders/key-pools.ts'
import { TIMED, until } from '../builders/time.ts'

/** The channels of two processes with a common bus. */
function pair() {
  const listeners: Listener[] = []
  return [0, 1].map(index => {
    const bus: Bus = {
      publish: (_, message) => listeners[1 - index]!(JSON.parse(JSON.stringify(message)) as Json),
      subscribe: (_, listener) => {
        listeners[index] = listener
        return () => {}
      },
      close: async () => {},
    }
    const channel = new Channel(poolAt('http://127.0.0.1:9', [KEY_A, KEY_B]))
    const shared = new SharedRest(bus, name => (name === 'pool' ? channel : undefined))
    for (const one of [channel, ...channel.keys!]) shared.follow(one)
    return channel
  }) as [Channel, Channel]
}

test(
  'a key that is refused at one process rests at the other, alone and as long, until it answers',
  TIMED,
  async () => {
    const [one, other] = pair()
    const end = Date.now() + 3_000_000
    one.keys![0]!.resting.restChannel(end, { refusal: 'unauthenticated' })
    await until(() => other.keys![0]!.resting.until !== undefined)
    expect(Math.abs(other.keys![0]!.resting.until! - end)).toBeLessThan(1000)
    expect(other.keys![0]!.resting.refusal).toBe('unauthenticated')
    expect([other.keys![1]!.resting.until, other.resting.until]).toEqual([undefined, undefined])
    other.keys![0]!.resting.wake('m', performance.now())
    await until(() => one.keys![0]!.resting.until === undefined)
    expect(one.keys![0]!.resting.refusal).toBeUndefined()
  },
)
