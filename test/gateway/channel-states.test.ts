import { expect, it } from 'vitest'
import { mergedStates, statesOf } from '../../src/gateway/channel-states.ts'
import { sumOf } from '../../src/upstreams/channel/health.ts'
import { Channel } from '../../src/upstreams/channel/index.ts'
import { channelAt } from '../builders/config.ts'

const MINUTE = 60_000
const now = 100 * MINUTE

/** Channel states as one process sends them to another. */
const told = (...channels: Channel[]) => JSON.parse(JSON.stringify(statesOf(channels, now)))
const channel = (name: string): Channel => new Channel(channelAt('http://127.0.0.1:9', { name }))

it('adds up what several processes see of a channel', () => {
  const [one, other, only] = [channel('a'), channel('a'), channel('b')]
  one.countSession()
  other.countSession()
  other.countSession()
  one.resting.restModel('m', now + 1, now)
  other.resting.restModel('m', now + 5, now)
  other.resting.restModel('well', now - 1, now)
  other.resting.restChannel(now + 3)
  one.stats.succeeded(now)
  other.stats.failed({ at: now, kind: 'overloaded', reason: 'status', message: 'busy', model: 'm' })
  only.drained = true
  const { a, b } = mergedStates([told(one), told(other, only)])
  expect(a).toMatchObject({ inFlight: 3, drained: false, restingUntil: now + 3, resting: [['m', now + 5]] })
  expect(sumOf(a!.stats, 5, now)).toEqual({ requests: 2, errors: 1 })
  expect(a!.stats.errors).toEqual([
    { at: now, firstAt: now, count: 1, kind: 'overloaded', reason: 'status', message: 'busy', model: 'm' },
  ])
  expect(b).toMatchObject({ inFlight: 0, drained: true })
  expect(b!.restingUntil).toBeUndefined()
})
