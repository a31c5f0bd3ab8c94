import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { readConfig } from '../../src/config/read.ts'
import {
  type ChannelHealth,
  type RoutedChannel,
  type RouteRequest,
  route,
  usableModels,
} from '../../src/upstreams/router.ts'
import { permitting } from '../builders/permissions.ts'
import { TIMED } from '../builders/time.ts'

/** Makes channels from config lines, with the health of some of them by name. */
function channels(lines: string, health: { readonly [name: string]: ChannelHealth } = {}): RoutedChannel[] {
  const text = lines
    .trim()
    .split('\n')
    .map(line => `  - { provider: custom, base_url: "http://127.0.0.1:9", ${line.trim()} }`)
  return readConfig(`channels:\n${text.join('\n')}`, {}).channels.map(config => ({
    config,
    health: health[config.name] ?? { inFlight: 0 },
  }))
}

const ask = (more: Partial<RouteRequest> = {}): RouteRequest => ({
  model: 'm',
  format: 'chat',
  work: 'conversation',
  permissions: permitting('*'),
  now: 1_000_000,
  draw: 'request-1',
  ...more,
})

const names = (asked: RouteRequest, list: readonly RoutedChannel[]): string[] =>
  route(asked, list).map(({ channel }) => channel.name)

function refusal(asked: RouteRequest, list: readonly RoutedChannel[]): GatewayError['error'] {
  try {
    route(asked, list)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown.error
  }
  throw new Error('it was not refused')
}

describe('the order of channels', () => {
  it('tries a lower priority first', () => {
    const list = channels(`name: late, formats: [chat], models: [m], priority: 5
      name: early, formats: [responses], models: [m], priority: -1`)
    expect(names(ask(), list)).toEqual(['early', 'late'])
  })

  it.each([
    ["the caller's format", 'formats: [chat], models: [m]', 'formats: [messages], models: [m]'],
    ['a cheaper or faster upstream', 'formats: [chat], models: [m]', 'formats: [chat], models: [m]'],
    ['a certain model', 'formats: [chat], models: [m]', 'formats: [chat], models: ["*"]'],
  ])('uses a channel of weight 0 only if no other of its priority is left, also if it has %s', (_, idle, used) => {
    const list = channels(`name: idle, ${idle}, weight: 0
      name: used, ${used}
      name: late, ${idle}, priority: 1`)
    const rank: RouteRequest['rank'] = ({ channel }) => (channel.name === 'idle' ? 0 : 1)
    expect(names(ask({ rank }), list)).toEqual(['used', 'idle', 'late'])
    expect(names(ask({ rank }), [list[0]!, list[2]!])).toEqual(['idle', 'late'])
  })

  it("prefers a channel with the caller's format to a translation, and uses that format", () => {
    const list = channels(`name: a, formats: [responses], models: [m]
      name: b, formats: [messages, chat], models: { m: upstream-m }`)
    expect(route(ask(), list)[0]).toMatchObject({
      channel: { name: 'b' },
      format: { format: 'chat' },
      native: true,
      upstreamModel: 'upstream-m',
    })
  })

  it("uses a channel's first format for the work if it lacks the caller's format", () => {
    const list = channels('name: a, formats: [embeddings, contents, responses], models: [m]')
    expect(route(ask(), list)[0]).toMatchObject({ format: { format: 'contents' }, native: false })
    expect(route(ask({ format: 'embeddings', work: 'embedding' }), list)[0]).toMatchObject({
      format: { format: 'embeddings' },
      native: true,
    })
  })

  it('prefers the format made for the work, then one that can do it, then an emulation', () => {
    const speaks = (formats: string, work: RouteRequest['work']) =>
      route(ask({ format: 'elsewhere', work }), channels(`name: a, formats: [${formats}], models: [m]`))[0]
    expect(speaks('contents, embeddings', 'embedding')?.format.format).toBe('embeddings')
    expect(speaks('embeddings, cohere', 'ranking')).toMatchObject({ format: { format: 'cohere' }, emulated: false })
    expect(speaks('chat, embeddings', 'ranking')).toMatchObject({ format: { format: 'embeddings' }, emulated: true })
  })

  it('avoids a vendor that lacks the work its format can do', () => {
    const compact = (dialect: string) =>
      route(
        ask({ format: 'responses', work: 'compaction' }),
        channels(`name: a, formats: [responses], models: [m], dialect: ${dialect}`),
      )[0]
    expect(compact('{}')).toMatchObject({ native: true, emulated: false })
    expect(compact('{ compaction: false }')).toMatchObject({ native: true, emulated: true })
  })

  it('prefers the translation without losses', () => {
    const list = channels(`name: a, formats: [responses], models: [m]
      name: b, formats: [contents], models: [m]`)
    const losses = ({ format }: { format: string }): number => (format === 'responses' ? 2 : 0)
    expect(names(ask({ losses }), list)).toEqual(['b', 'a'])
  })

  it('counts losses only if they decide, and once per dialect', () => {
    let counted = 0
    const losses = (): number => ++counted
    route(ask({ losses }), channels('name: a, formats: [responses], models: [m]'))
    route(
      ask({ losses }),
      channels(`name: a, formats: [responses], models: [m]
      name: b, formats: [responses], models: [m]`),
    )
    expect(counted).toBe(0)
    route(
      ask({ losses }),
      channels(`name: a, formats: [responses], models: [m]
      name: b, formats: [contents], models: [m]
      name: c, formats: [contents], models: [m]`),
    )
    expect(counted).toBe(2)
  })

  it('distributes by weight', () => {
    const list = channels(`name: a, formats: [chat], models: [m], weight: 3
      name: b, formats: [chat], models: [m], weight: 1
      name: never, formats: [chat], models: [m], weight: 0`)
    const first = Array.from({ length: 4000 }, (_, index) => names(ask({ draw: `request-${index}` }), list)[0])
    const share = first.filter(name => name === 'a').length / first.length
    expect(share).toBeGreaterThan(0.72)
    expect(share).toBeLessThan(0.78)
    expect(first).not.toContain('never')
  })

  it('trap 33: selects the same channel for the same draw, also after another channel was added', () => {
    const two = channels(`name: a, formats: [chat], models: [m]
      name: b, formats: [chat], models: [m]`)
    const three = [...two, ...channels('name: c, formats: [chat], models: [m]')]
    for (let index = 0; index < 50; index++) {
      const draw = `session-${index}`
      expect(names(ask({ draw }), three).filter(name => name !== 'c')).toEqual(names(ask({ draw }), two))
    }
  })

  it('prefers channels that list the model to channels that may have it', () => {
    const list = channels(`name: any, formats: [chat], models: ["*"]
      name: sure, formats: [responses], models: [m]`)
    expect(names(ask(), list)).toEqual(['sure', 'any'])
  })
})

describe('trap 100: a resting target', () => {
  const two = `name: a, formats: [chat], models: { m: up, n: other }
    name: b, formats: [responses], models: [m, n], priority: 1`
  const until = 1_007_400

  it('is tried last whatever its priority, and in its normal position afterwards', () => {
    const resting = channels(two, { a: { inFlight: 0, restingUntil: until } })
    expect(names(ask(), resting)).toEqual(['b', 'a'])
    expect(names(ask({ now: until }), resting)).toEqual(['a', 'b'])
    expect(route(ask(), resting).map(({ resting }) => resting)).toEqual([false, true])
  })

  it('is one model by its upstream name, and no other model of the channel', () => {
    const resting = channels(two, { a: { inFlight: 0, resting: new Map([['up', until]]) } })
    expect(names(ask(), resting)).toEqual(['b', 'a'])
    expect(names(ask({ model: 'n' }), resting)).toEqual(['a', 'b'])
  })

  it('is tried if no other target is left', () => {
    const all = channels(two, { a: { inFlight: 0, restingUntil: until }, b: { inFlight: 0, restingUntil: until } })
    expect(names(ask(), all)).toEqual(['a', 'b'])
  })

  it('says on demand which channel the request would select if nothing rested', () => {
    const equal = `name: a, formats: [chat], models: [m]
      name: b, formats: [chat], models: [m]`
    let ranked = 0
    const rank = ({ channel }: { readonly channel: { readonly name: string } }) => {
      ranked++
      return channel.name === 'a' ? 0 : 1
    }
    const resting = channels(equal, { a: { inFlight: 0, restingUntil: until } })
    const targets = route(ask({ rank }), resting)
    expect(ranked).toBe(0)
    expect(targets.map(({ channel, isDrawn }) => [channel.name, isDrawn!()])).toEqual([
      ['b', false],
      ['a', true],
    ])
    expect(targets[0]!.isDrawn!()).toBe(false)
    expect(ranked).toBe(2)
  })
})

describe('refusals', () => {
  const one = 'name: a, formats: [chat], models: [m], max_concurrent: 2'

  it('recognises a model that no channel has', () => {
    expect(refusal(ask({ model: 'x' }), channels(one))).toMatchObject({ kind: 'not-found', code: 'model_not_found' })
    const listed = channels('name: a, formats: [chat], models: ["*"]', { a: { inFlight: 0, listed: new Set(['m']) } })
    expect(refusal(ask({ model: 'x' }), listed)).toMatchObject({ kind: 'not-found' })
    expect(names(ask(), listed)).toEqual(['a'])
  })

  it('distinguishes a model that the key may not use from a format that the model does not have', () => {
    expect(refusal(ask({ permissions: permitting('gpt-*') }), channels(one))).toMatchObject({ kind: 'forbidden' })
    expect(refusal(ask({ format: 'embeddings', work: 'embedding' }), channels(one))).toMatchObject({
      code: 'model_not_supported',
    })
  })

  it('skips full channels, and states when to retry if none is left', () => {
    const two = `${one}
      name: b, formats: [chat], models: [m]`
    expect(names(ask(), channels(two, { a: { inFlight: 2 } }))).toEqual(['b'])
    expect(refusal(ask(), channels(one, { a: { inFlight: 2 } }))).toMatchObject({
      kind: 'overloaded',
      retryAfterSeconds: 1,
    })
  })

  it('skips drained channels, and states when to retry if none is left', () => {
    const two = `${one}
      name: b, formats: [chat], models: [m]`
    const drained = { inFlight: 0, drained: true }
    expect(names(ask(), channels(two, { a: drained }))).toEqual(['b'])
    expect(refusal(ask(), channels(two, { a: drained, b: drained }))).toMatchObject({
      ...{ kind: 'overloaded', retryAfterSeconds: 60 },
      message: expect.stringContaining('out of service'),
    })
    expect(usableModels(permitting('*'), channels(one, { a: drained })).map(({ id }) => id)).toEqual(['m'])
  })

  it('names no channel', () => {
    expect(refusal(ask(), channels(one, { a: { inFlight: 9 } })).message).not.toContain('"a"')
  })
})

describe('the models a key can call', () => {
  it('are those of the channels and of their upstreams’ lists that the key may use', () => {
    const list = channels(
      `name: a, formats: [chat, embeddings], models: { m: up, gpt-9: up }
      name: b, formats: [messages], models: ["gpt-*"]`,
      { b: { inFlight: 0, listed: new Set(['gpt-1', 'gpt-9', 'other']) } },
    )
    expect(usableModels(permitting('*'), list)).toEqual([
      { id: 'gpt-1', formats: ['messages'] },
      { id: 'gpt-9', formats: ['chat', 'embeddings', 'messages'] },
      { id: 'm', formats: ['chat', 'embeddings'] },
    ])
    expect(usableModels(permitting('m'), list).map(({ id }) => id)).toEqual(['m'])
  })

  it('do not include a model that only another channel’s upstream lists', () => {
    const list = channels(
      `name: a, formats: [chat], models: ["gpt-*"]
      name: b, formats: [chat], models: ["*"]`,
      { a: { inFlight: 0, listed: new Set(['gpt-1', 'other']) } },
    )
    expect(usableModels(permitting('*'), list).map(({ id }) => id)).toEqual(['gpt-1'])
    expect(names(ask({ model: 'other' }), list)).toEqual(['b'])
  })
})

it('many channels with models of their own are indexed in proportion to their number', TIMED, () => {
  const [one] = channels('name: a, formats: [chat], key: k, models: [m]')
  const many = Array.from({ length: 10_000 }, (_, at) => ({
    ...one!,
    config: { ...one!.config, name: `c${at}`, models: { named: new Map([[`m${at}`, 'm']]), patterns: [] } },
  }))
  const before = performance.now()
  expect(names(ask({ model: 'm9999' }), many)).toEqual(['c9999'])
  expect(performance.now() - before).toBeLessThan(2000)
})
