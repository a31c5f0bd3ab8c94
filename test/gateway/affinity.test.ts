import { describe, expect, it } from 'vitest'
import { type CanonicalRequest, userMessage } from '../../src/canonical/request.ts'
import { readConfig } from '../../src/config/read.ts'
import { affinityOf } from '../../src/gateway/affinity.ts'
import { type RoutedChannel, type RouteRequest, route } from '../../src/upstreams/router.ts'
import { permitting } from '../builders/permissions.ts'

const BASE: CanonicalRequest = { model: 'm', messages: [], output: {}, sampling: {}, stream: false }

/** The request for a turn of a conversation that begins with its own text. Earlier turns are sent again. */
const turn = (conversation: number, number: number): CanonicalRequest => ({
  ...BASE,
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'You are an agent.' }] },
    userMessage(`Task ${conversation}`),
    ...Array.from({ length: number }, (_, index) => userMessage(`Step ${index}`)),
  ],
})

const keyOf = (request: Partial<CanonicalRequest>, headers = {}, owner = 'key-1'): string | undefined =>
  affinityOf({ ...BASE, ...request }, 'conversation', headers, owner)?.key

/** Channels of equal rank, by their weights. */
const channels = (weights: readonly number[], more = ''): RoutedChannel[] =>
  readConfig(
    `channels:\n${weights
      .map(
        (weight, index) =>
          `  - { provider: custom, base_url: "http://127.0.0.1:9", name: c${index}, formats: [chat], models: [m], weight: ${weight}${more} }`,
      )
      .join('\n')}`,
    {},
  ).channels.map(config => ({ config, health: { inFlight: 0 } }))

let requests = 0
/** The channel that a request reaches. Every request has its own id. */
function channelOf(request: CanonicalRequest, list: readonly RoutedChannel[], isAffine = true): string {
  const draw = `request-${requests++}`
  const query: RouteRequest = {
    model: 'm',
    format: 'chat',
    work: 'conversation',
    permissions: permitting('*'),
    now: 1,
    draw,
  }
  const affinity = (): string | undefined => affinityOf(request, 'conversation', {}, 'key-1')?.key
  return route(isAffine ? { ...query, affinity } : query, list)[0]!.channel.name
}

const resting = (list: readonly RoutedChannel[], name: string): RoutedChannel[] =>
  list.map(one => (one.config.name === name ? { ...one, health: { inFlight: 0, restingUntil: 2 } } : one))

/**
 * Runs 200 sessions of 20 turns in turn before a provider that caches the longest prefix per account. Returns the share
 * of the tokens that a single account would have read from its cache.
 */
function cachedShare(isAffine: boolean): number {
  let list = channels([1, 1])
  const cached = new Map<string, number>()
  let hits = 0
  let possible = 0
  for (let number = 0; number < 20; number++) {
    // A restart reads the config again and keeps no state.
    if (number === 10) list = channels([1, 1])
    for (let session = 0; session < 200; session++) {
      const account = `${channelOf(turn(session, number), list, isAffine)} ${session}`
      const length = 1000 + 500 * number
      hits += cached.get(account) ?? 0
      possible += number === 0 ? 0 : length - 500
      cached.set(account, length)
    }
  }
  return hits / possible
}

describe('the key of affinity', () => {
  it('prefers cache key, session and stored conversation, in this order', () => {
    const state = { conversation: 'conv_1' }
    const headers = { session_id: 'session-1' }
    expect(keyOf({ cacheKey: 'k', state }, headers)).toBe('key-1\nk')
    expect(keyOf({ state }, headers)).toBe('key-1\nsession-1')
    expect(keyOf({ state })).toBe('key-1\nconv_1')
    expect(keyOf({ state }, { 'x-session-id': 's2' })).toBe('key-1\ns2')
  })

  it('takes the session from the headers of the config first, without regard to case', () => {
    const { server } = readConfig('server: { session_headers: [X-Conversation] }\nchannels: []', {})
    const headers = { 'x-conversation': 'c1', 'x-session-id': 's1' }
    const key = (given: object) => affinityOf(BASE, 'conversation', { ...given }, 'key-1', server.sessionHeaders)?.key
    expect([key(headers), key({ 'x-session-id': 's1' })]).toEqual(['key-1\nc1', 'key-1\ns1'])
    expect(() => readConfig('server: { session_headers: ["a b"] }\nchannels: []', {})).toThrow('is not a header name')
  })

  it('is bounded, whatever a client sends as its session or cache key', () => {
    const giant = 'x'.repeat(1_000_000)
    for (const request of [{ cacheKey: giant }, { state: { conversation: giant } }, { endUser: giant }])
      expect(keyOf(request)?.length ?? 0).toBeLessThan(400)
    expect(keyOf({}, { 'x-session-id': giant })!.length).toBeLessThan(400)
    expect(keyOf({ cacheKey: `${giant}1` })).not.toBe(keyOf({ cacheKey: `${giant}2` }))
    expect(keyOf({}, { 'x-session-id': `${giant}1` })).not.toBe(keyOf({}, { 'x-session-id': `${giant}2` }))
  })

  it("finds the session of Claude Code's user, and ignores a user without one", () => {
    const session = '8f14e45f-ceea-467f-ab2d-1d2f3a4b5c6d'
    expect(keyOf({ endUser: `user_ab12_account__session_${session}` })).toBe(`key-1\n${session}`)
    expect(keyOf({ endUser: JSON.stringify({ device_id: 'd', session_id: session }) })).toBe(`key-1\n${session}`)
    expect(keyOf({ endUser: 'user-1234' })).toBeUndefined()
  })

  it('is the same for all turns of a conversation, and differs between conversations and keys', () => {
    expect(keyOf(turn(1, 9))).toBe(keyOf(turn(1, 0)))
    expect(keyOf(turn(2, 0))).not.toBe(keyOf(turn(1, 0)))
    expect(keyOf(turn(1, 0), {}, 'key-2')).not.toBe(keyOf(turn(1, 0)))
    expect(keyOf({ ...turn(1, 0), model: 'n' })).not.toBe(keyOf(turn(1, 0)))
    expect(keyOf({ ...turn(1, 0), tools: [{ type: 'function', name: 'f' }] })).not.toBe(keyOf(turn(1, 0)))
  })

  it('is undefined for work without turns', () => {
    expect(affinityOf(turn(1, 0), 'embedding', {}, 'key-1')).toBeUndefined()
    expect(keyOf({})).toBeUndefined()
  })
})

describe('cache affinity', () => {
  it('keeps the cached tokens of 200 interleaved sessions, through a restart', () => {
    const [without, share] = [cachedShare(false), cachedShare(true)]
    expect(without).toBeLessThan(0.95)
    expect(share).toBeGreaterThanOrEqual(0.95)
  })

  it('shares 10,000 conversations by weight; the loss of a channel moves only its own, and they return', () => {
    const weights = [1, 2, 3, 4, 5]
    const list = channels(weights)
    const lost = resting(list, 'c2')
    const count = new Map<string, number>()
    for (let index = 0; index < 10_000; index++) {
      const request = turn(index, 0)
      const name = channelOf(request, list)
      count.set(name, (count.get(name) ?? 0) + 1)
      const instead = channelOf(request, lost)
      if (name === 'c2') expect(instead).not.toBe('c2')
      else expect(instead).toBe(name)
      expect(channelOf(request, list)).toBe(name)
    }
    for (const [index, weight] of weights.entries())
      expect(count.get(`c${index}`)! / ((10_000 * weight) / 15), `share of c${index}`).toBeCloseTo(1, 1)
  })

  it('is switched off by `affinity: false`', () => {
    const reached = (list: readonly RoutedChannel[]): number =>
      new Set(Array.from({ length: 100 }, () => channelOf(turn(1, 0), list))).size
    expect(reached(channels([1, 1], ', affinity: false'))).toBe(2)
    expect(reached(channels([1, 1]))).toBe(1)
  })

  it('is evaluated once, and not for a single channel', () => {
    let evaluated = 0
    const query: RouteRequest = {
      model: 'm',
      format: 'chat',
      work: 'conversation',
      permissions: permitting('*'),
      now: 1,
      draw: 'd',
      affinity: () => `${evaluated++}`,
    }
    route(query, channels([1]))
    expect(evaluated).toBe(0)
    // The drawn channel is needed only for signatures without a known account.
    const two = channels([1, 1])
    const targets = route(query, [two[0]!, { ...two[1]!, health: { inFlight: 0, restingUntil: 2 } }])
    expect(evaluated).toBe(0)
    for (const { isDrawn } of targets) isDrawn!()
    expect(evaluated).toBe(1)
    route(query, channels([1, 1, 1]))
    expect(evaluated).toBe(2)
  })
})
