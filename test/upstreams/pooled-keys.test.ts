import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { areAllFull, availableKeys } from '../../src/upstreams/pooled-keys.ts'
import { type ChannelHealth, type RoutedChannel, type RouteRequest, route } from '../../src/upstreams/router.ts'
import { poolAt } from '../builders/key-pools.ts'
import { permitting } from '../builders/permissions.ts'
import { holds } from '../laws/runs.ts'

const NOW = 1_000_000
const WELL: ChannelHealth = { inFlight: 0 }
const ADDRESS = 'http://127.0.0.1:9'

/** A pool with one key per health. */
function pool(healths: readonly ChannelHealth[], name = 'pool', more = ''): RoutedChannel {
  const keys = healths.map((_, index) => `upstream-key-number-${index}-of-${name}`)
  // A pool has at least two keys.
  const config = poolAt(ADDRESS, healths.length > 1 ? keys : [...keys, 'another-key-of-the-pool'], { name, more })
  return { config, health: WELL, keys: healths.map((health, index) => ({ config: config.keys![index]!, health })) }
}

const ask = (more: Partial<RouteRequest> = {}): RouteRequest => ({
  ...{ model: 'm', format: 'chat', work: 'conversation', permissions: permitting('*'), now: NOW, draw: 'r' },
  ...more,
})

const health: fc.Arbitrary<ChannelHealth> = fc.record(
  {
    inFlight: fc.constant(0),
    isSpent: fc.boolean(),
    restingUntil: fc.constantFrom(NOW - 1, NOW, NOW + 1, NOW + 2, NOW + 5000),
    resting: fc
      .tuple(fc.constantFrom('m', 'other'), fc.constantFrom(NOW, NOW + 3, NOW + 4000))
      .map(entry => new Map([entry])),
  },
  { requiredKeys: ['inFlight'] },
)
const healths = fc.array(health, { minLength: 1, maxLength: 6 })

/** The end of a key's rest for the model, by definition. */
const endOf = ({ restingUntil = 0, resting }: ChannelHealth) => Math.max(restingUntil, resting?.get('m') ?? 0)

describe('the keys of a pool that a request tries', () => {
  const keysOf = (list: readonly ChannelHealth[], draw = 'd') => {
    const { keys } = pool(list)
    return { keys: keys!, tried: availableKeys(keys!, { draw, upstreamModel: 'm', now: NOW }) }
  }

  it('are those with room: first all that do not rest, then the two whose rest ends first', () => {
    holds(healths, list => {
      const { keys, tried } = keysOf(list)
      const usable = keys.filter(({ health }) => health.isSpent !== true)
      const awake = usable.filter(({ health }) => endOf(health) <= NOW)
      const ends = usable.map(({ health }) => endOf(health)).filter(end => end > NOW)
      expect(new Set(tried.filter(one => !one.resting).map(({ key }) => key))).toEqual(new Set(awake))
      expect(tried.map(({ resting }) => resting)).toEqual(tried.map((_, index) => index >= awake.length))
      expect(tried.slice(awake.length).map(({ key }) => endOf(key.health))).toEqual(
        ends.sort((a, b) => a - b).slice(0, 2),
      )
    })
  })

  it('are in the order of the draw, and the first one of all keys is the drawn one, whatever rests or is full', () => {
    holds(fc.tuple(healths, fc.string()), ([list, draw]) => {
      const order = keysOf(
        list.map(() => WELL),
        draw,
      ).tried
      expect(order.map(({ isDrawn }) => isDrawn)).toEqual(order.map((_, index) => index === 0))
      const { tried } = keysOf(list, draw)
      const drawn = order[0]!.key.config.name + order[0]!.key.config.pooled!.id
      for (const { key, isDrawn } of tried) expect(isDrawn).toBe(key.config.name + key.config.pooled!.id === drawn)
      const ids = (keys: typeof order) => keys.map(({ key }) => key.config.pooled!.id)
      const awake = ids(tried.filter(({ resting }) => !resting))
      expect(ids(order).filter(id => awake.includes(id))).toEqual(awake)
    })
  })

  it('are drawn by weight, each about as often', () => {
    const first = Array.from({ length: 600 }, (_, index) => keysOf([WELL, WELL, WELL], `draw-${index}`).tried[0]!.key)
    const counts = [...Map.groupBy(first, ({ config }) => config.pooled!.id).values()].map(({ length }) => length)
    expect(counts).toHaveLength(3)
    expect(Math.min(...counts)).toBeGreaterThan(140)
  })

  it('are none if all are full', () => {
    const full = { inFlight: 0, isSpent: true }
    expect([areAllFull(pool([full, full]).keys!), areAllFull(pool([full, WELL]).keys!)]).toEqual([true, false])
  })
})

describe('a channel with a pool', () => {
  const until = NOW + 7000
  const RESTS: ChannelHealth = { inFlight: 0, restingUntil: until }
  const FULL: ChannelHealth = { inFlight: 0, isSpent: true }
  const keysTried = (channels: readonly RoutedChannel[], more?: Partial<RouteRequest>) =>
    route(ask(more), channels).map(({ channel }) => channel.key)

  it('is replaced by its keys, also if it is the only channel', () => {
    const one = pool([WELL, WELL, WELL])
    expect(new Set(keysTried([one]))).toEqual(new Set(one.keys!.map(({ config }) => config.key)))
    expect(route(ask(), [one]).every(({ format, native }) => format.format === 'chat' && native)).toBe(true)
  })

  it('is full if all of its keys are, and rests if all of its keys do', () => {
    expect(() => route(ask(), [pool([FULL, FULL])])).toThrow('busy')
    expect(keysTried([pool([FULL, WELL])])).toHaveLength(1)
    const resting = pool([RESTS, RESTS], 'a', ', priority: -1')
    const other = pool([WELL, WELL], 'b')
    expect(route(ask(), [resting, other]).map(({ channel, resting }) => [channel.name, resting])).toEqual([
      ...[
        ['b', false],
        ['b', false],
      ],
      ...[
        ['a', true],
        ['a', true],
      ],
    ])
  })

  it('tries its resting keys after the keys of channels with a lower priority', () => {
    const preferred = pool([RESTS, WELL], 'a', ', priority: -1')
    const other = pool([WELL, RESTS], 'b')
    const tried = route(ask(), [other, preferred]).map(({ channel, resting }) => `${channel.name} ${resting}`)
    expect(tried).toEqual(['a false', 'b false', 'a true', 'b true'])
  })

  it('whose keys all rest is tried in the order of priorities among what rests', () => {
    const resting = pool([RESTS, RESTS], 'a', ', priority: 1')
    const { keys: _, ...single } = pool([WELL, WELL], 'b')
    const tried = route(ask(), [resting, { ...single, health: RESTS }]).map(({ channel }) => channel.name)
    expect(tried).toEqual(['b', 'a', 'a'])
  })

  it('passes the rest of the channel on to its keys', () => {
    const resting = { ...pool([WELL, WELL]), health: RESTS }
    expect(route(ask(), [resting]).map(({ resting }) => resting)).toEqual([true, true])
  })

  it('says on demand which key the request would select if nothing rested', () => {
    holds(fc.tuple(healths, healths, fc.string()), ([list, others, draw]) => {
      const [one, two] = [pool(list, 'a'), pool(others, 'b')]
      const well = [one, two].map(channel => ({
        ...channel,
        keys: channel.keys!.map(key => ({ ...key, health: WELL })),
      }))
      const drawn = route(ask({ draw }), well)[0]!.channel.key
      const tried = areAllFull(one.keys!) && areAllFull(two.keys!) ? [] : route(ask({ draw }), [one, two])
      // A channel without room is not tried, so that it is not selected either.
      if (areAllFull(one.keys!) || areAllFull(two.keys!)) return
      for (const target of tried) expect(target.isDrawn!()).toBe(target.channel.key === drawn)
    })
  })

  it('beside a channel without one: either says whether it is drawn', () => {
    const [one, plain] = [pool([WELL, WELL], 'a'), pool([WELL, WELL], 'b')]
    const { keys: _, ...single } = plain
    for (let index = 0; index < 20; index++) {
      const targets = route(ask({ draw: `draw-${index}` }), [one, single])
      expect(targets.map(target => target.isDrawn!())).toEqual(targets.map((_, at) => at === 0))
    }
  })
})
