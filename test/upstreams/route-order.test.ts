import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { permissionsOf } from '../../src/accounts/permissions.ts'
import {
  type ChannelHealth,
  deploymentsOf,
  preferring,
  type RoutedChannel,
  type RouteRequest,
  route,
  type Target,
  usableModels,
} from '../../src/upstreams/router.ts'
import { channelAt } from '../builders/config.ts'
import { permitting } from '../builders/permissions.ts'
import { holds } from '../laws/runs.ts'

/* What decides between channels that can serve a request, and what is evaluated for it. */

const WELL: ChannelHealth = { inFlight: 0 }

const channelWith = (name: string, fields: Parameters<typeof channelAt>[1] = {}, health = WELL): RoutedChannel => ({
  config: channelAt('http://127.0.0.1:9', { name, ...fields }),
  health,
})

const ask = (more: Partial<RouteRequest> = {}): RouteRequest => ({
  ...{ model: 'm', format: 'chat', work: 'conversation', permissions: permitting('*'), now: 1000, draw: 'r' },
  ...more,
})

const names = (asked: RouteRequest, list: readonly RoutedChannel[]): string[] =>
  route(asked, list).map(({ channel }) => channel.name)

/** Orders of two channels over many draws. */
const orders = (asked: (draw: string) => RouteRequest, list: readonly RoutedChannel[]): Set<string> =>
  new Set(Array.from({ length: 40 }, (_, index) => names(asked(`draw-${index}`), list).join()))

describe('the affinity of a request', () => {
  it('replaces the draw, and is asked for once', () => {
    const affinity = vi.fn(() => 'conversation')
    const three = ['a', 'b', 'c'].map(name => channelWith(name))
    names(ask({ affinity }), three)
    expect(affinity).toHaveBeenCalledTimes(1)
    expect(orders(draw => ask({ draw, affinity: () => 'conversation' }), three).size).toBe(1)
    expect(orders(draw => ask({ affinity: () => draw }), three).size).toBeGreaterThan(3)
    // Without a conversation, the draw decides.
    expect(orders(draw => ask({ draw, affinity: () => undefined }), three).size).toBeGreaterThan(3)
  })

  it('is not asked for if one channel is left, or if something else decides', () => {
    const affinity = vi.fn(() => 'conversation')
    names(ask({ affinity }), [channelWith('a')])
    names(ask({ affinity }), [channelWith('a', { priority: 1 }), channelWith('b')])
    expect(affinity).not.toHaveBeenCalled()
  })

  it('does not count at a channel that spreads its requests', () => {
    const spread = ['a', 'b'].map(name => channelWith(name, { affinity: false }))
    const affinity = vi.fn(() => 'conversation')
    expect(orders(draw => ask({ draw, affinity }), spread)).toEqual(new Set(['a,b', 'b,a']))
    expect(affinity).not.toHaveBeenCalled()
  })
})

describe('the losses of a request', () => {
  const foreign = (name: string, format: string, more: object = {}) => channelWith(name, { format, ...more })

  it('decide before the rank and the draw, and are counted for each priority', () => {
    const losses = vi.fn(({ format }: { readonly format: string }) => (format === 'responses' ? 2 : 1))
    const rank = ({ channel }: { readonly channel: { readonly name: string } }) => (channel.name === 'a' ? 0 : 1)
    const two = [foreign('a', 'responses'), foreign('b', 'contents')]
    expect(names(ask({ losses, rank }), two)).toEqual(['b', 'a'])
    expect(names(ask({ rank }), two)).toEqual(['a', 'b'])
    losses.mockClear()
    const four = [...two, foreign('c', 'responses', { priority: 1 }), foreign('d', 'contents', { priority: 1 })]
    expect(names(ask({ losses }), four)).toEqual(['b', 'a', 'd', 'c'])
    expect(losses).toHaveBeenCalledTimes(4)
  })

  it('are counted for dialects that differ, with the channel', () => {
    const losses = vi.fn((_: object, { name }: { readonly name: string }) => (name === 'a' ? 1 : 0))
    const two = [foreign('a', 'responses', { dialect: { store: false } }), foreign('b', 'responses')]
    expect(names(ask({ losses }), two)).toEqual(['b', 'a'])
  })

  it('are not counted for native channels and for emulations', () => {
    const losses = vi.fn(() => 1)
    names(ask({ losses }), [channelWith('a'), foreign('b', 'responses')])
    names(ask({ losses }), [channelWith('a'), channelWith('b')])
    const ranking = ask({ format: 'rerank', work: 'ranking', losses })
    names(ranking, [foreign('a', 'embeddings'), foreign('b', 'chat')])
    names(ask({ losses }), [channelWith('a'), foreign('b', 'responses'), foreign('c', 'responses')])
    const two = [foreign('c', 'cohere'), foreign('d', 'cohere')]
    expect(names(ranking, [foreign('a', 'embeddings'), ...two]).at(-1)).toBe('a')
    expect(losses).not.toHaveBeenCalled()
    const counted: string[] = []
    const listing = ({ format }: { readonly format: string }) => counted.push(format)
    const four = [channelWith('a'), channelWith('b'), foreign('c', 'responses'), foreign('d', 'contents')]
    names(ask({ losses: listing }), four)
    const emulated = [foreign('e', 'embeddings'), foreign('f', 'chat')]
    names({ ...ranking, losses: listing }, [...emulated, foreign('g', 'cohere'), foreign('h', 'rerank')])
    expect(counted.sort()).toEqual(['contents', 'responses'])
  })
})

it('a channel that does the work is tried before one that emulates it, in whatever order they are configured', () => {
  const list = [channelWith('a', { format: 'embeddings' }), channelWith('b', { format: 'cohere' })]
  const ranking = ask({ format: 'rerank', work: 'ranking' })
  for (const some of [list, list.toReversed()]) expect(names(ranking, some)).toEqual(['b', 'a'])
})

describe('the rank of targets', () => {
  it('decides before the draw, is evaluated once per target, and gets the draw of the channel', () => {
    const rank = vi.fn(({ channel }: { readonly channel: { readonly name: string } }, _: string) =>
      channel.name === 'b' ? 0 : 1,
    )
    const three = [channelWith('a', { affinity: false }), channelWith('b'), channelWith('c')]
    expect(names(ask({ rank, affinity: () => 'conversation' }), three)[0]).toBe('b')
    expect(rank.mock.calls.map(([{ channel }, draw]) => `${channel.name} ${draw}`).sort()).toEqual([
      ...['a r', 'b conversation', 'c conversation'],
    ])
  })
})

it('channels that are equal in everything are tried in the order of their names', () => {
  const two = ['b', 'a'].map(name => channelWith(name, { weight: 0 }))
  expect(names(ask(), two)).toEqual(['a', 'b'])
  expect(names(ask(), two.toReversed())).toEqual(['a', 'b'])
})

it('a target says whether it is drawn only if something rests', () => {
  const resting = { inFlight: 0, restingUntil: 2000 }
  expect(route(ask(), [channelWith('a'), channelWith('b')]).map(({ isDrawn }) => isDrawn)).toEqual([
    ...[undefined, undefined],
  ])
  const targets = route(ask(), [channelWith('a', { priority: 1 }), channelWith('b', {}, resting)])
  expect(targets.map(({ channel, isDrawn }) => [channel.name, isDrawn!()])).toEqual([
    ['a', false],
    ['b', true],
  ])
})

it('a preference moves targets to the front among those of equal rest and priority, and changes nothing else', () => {
  const target = fc
    .record({ resting: fc.boolean(), priority: fc.nat(2), isPreferred: fc.boolean() })
    .map(({ resting, priority, isPreferred }) => ({ resting, isPreferred, channel: { priority } }))
  holds(fc.array(target, { maxLength: 8 }), list => {
    const targets = list as unknown as readonly Target[]
    const got = preferring(targets, one => (one as unknown as (typeof list)[0]).isPreferred)
    const ranks = got.map(one => {
      const { resting, isPreferred, channel } = one as unknown as (typeof list)[0]
      return Number(resting) * 100 + channel.priority * 10 + Number(!isPreferred)
    })
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))
    for (const [index, one] of got.entries())
      if (ranks[index] === ranks[index - 1])
        expect(targets.indexOf(one)).toBeGreaterThan(targets.indexOf(got[index - 1]!))
  })
})

describe('the channels of a model', () => {
  const named = (...models: string[]) => ({ named: new Map(models.map(name => [name, `up-${name}`])), patterns: [] })
  const pattern = (...patterns: string[]) => ({ named: new Map<string, string>(), patterns })

  it('are those that name it and those whose patterns match it, with its name at the upstream', () => {
    const list = [
      channelWith('a', { models: named('m', 'n') }),
      channelWith('b', { models: pattern('m*') }),
      channelWith('c', { models: pattern('x*') }),
      channelWith('d', { models: { named: new Map([['m', 'up-d']]), patterns: ['n*'] } }),
    ]
    const found = (model: string) =>
      deploymentsOf(model, list).map(({ channel, upstreamModel }) => `${channel.name} ${upstreamModel}`)
    expect(found('m').sort()).toEqual(['a up-m', 'b m', 'd up-d'])
    expect(found('n').sort()).toEqual(['a up-n', 'd n'])
    expect(found('xy')).toEqual(['c xy'])
    expect(found('y')).toEqual([])
  })

  it('are tried behind channels that certainly have it while their lists are unknown', () => {
    const sure = channelWith('sure', { format: 'responses', models: named('m') })
    const unknown = channelWith('any', { models: pattern('*') })
    const listed = channelWith('any', { models: pattern('*') }, { inFlight: 0, listed: new Set(['m']) })
    expect(names(ask(), [sure, unknown])).toEqual(['sure', 'any'])
    expect(names(ask(), [sure, listed])).toEqual(['any', 'sure'])
  })
})

it('a format that the upstream does not serve for the model is not used', () => {
  const { config, health } = channelWith('a')
  const [format] = config.formats
  const formats = [
    { ...format!, servedModels: /^other/ },
    { ...format!, format: 'responses' },
  ]
  const targets = (some: typeof formats) => route(ask(), [{ config: { ...config, formats: some }, health }])
  expect(targets(formats)[0]).toMatchObject({ format: { format: 'responses' }, native: false })
  expect(targets([{ ...format!, servedModels: /^m/ }, formats[1]!])[0]).toMatchObject({ native: true })
  expect(() => targets(formats.slice(0, 1))).toThrow('does not do this kind of work')
})

describe('the models that a key can call', () => {
  const permissions = (fields: object) =>
    permissionsOf({ limits: {}, enabled: true }, { name: 'g', models: ['*'], limits: {}, onLoss: 'show', ...fields })
  const ids = (fields: object, list: readonly RoutedChannel[], cascades?: boolean) =>
    usableModels(permissions(fields), list, cascades).map(({ id }) => id)

  it('are those of its channels that do the work of its endpoints', () => {
    const list = [
      channelWith('a', { models: { named: new Map([['talk', 'x']]), patterns: [] } }),
      channelWith('b', { format: 'embeddings', models: { named: new Map([['embed', 'x']]), patterns: [] } }),
    ]
    expect(ids({}, list)).toEqual(['embed', 'talk'])
    expect(ids({ channels: ['a'] }, list)).toEqual(['talk'])
    expect(ids({ doors: ['embeddings'] }, list)).toEqual(['embed'])
  })

  it('are those of sessions if the channel does sessions, or the gateway builds them', () => {
    const list = [channelWith('a')]
    expect(ids({ doors: ['realtime'] }, list)).toEqual([])
    expect(ids({ doors: ['realtime'] }, list, true)).toEqual(['m'])
    expect(ids({ doors: ['realtime'] }, [channelWith('a', { format: 'realtime' })])).toEqual(['m'])
  })

  it('include those whose work the gateway emulates', () => {
    expect(ids({ doors: ['rerank'] }, [channelWith('a', { format: 'embeddings' })])).toEqual(['m'])
  })

  it('have the formats of all their channels, sorted, each once', () => {
    const list = ['responses', 'chat', 'responses'].map((format, at) => channelWith(`c${at}`, { format }))
    expect(usableModels(permissions({}), list)).toEqual([{ id: 'm', formats: ['chat', 'responses'] }])
  })
})
