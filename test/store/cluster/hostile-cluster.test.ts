import { afterEach, describe, expect, test, vi } from 'vitest'
import { MemoryEngine } from '../../../src/accounts/limits/engine.ts'
import { type LimitStep, Limits } from '../../../src/accounts/limits/index.ts'
import { takeSteps } from '../../../src/accounts/limits/remote-engine.ts'
import type { Json, JsonObject } from '../../../src/canonical/node.ts'
import { Live, type LiveEvent } from '../../../src/gateway/live.ts'
import { SharedRest } from '../../../src/gateway/shared-rest.ts'
import { AbsentNames } from '../../../src/gateway/thoughts/absent-names.ts'
import { Signers } from '../../../src/gateway/thoughts/signers.ts'
import { type Bus, type Listener, RedisBus, TOPICS } from '../../../src/store/cluster/bus.ts'
import { Hub } from '../../../src/store/cluster/hub.ts'
import { Member } from '../../../src/store/cluster/member.ts'
import { Port } from '../../../src/store/cluster/port.ts'
import type { UsageRow } from '../../../src/store/usage/row.ts'
import { Channel } from '../../../src/upstreams/channel/index.ts'
import { rests } from '../../../src/upstreams/channel-health.ts'
import { channelAt } from '../../builders/config.ts'
import { DAY } from '../../builders/units.ts'

/*
 * Processes under attack: messages that come twice or contradict themselves, topics and names that mean something else,
 * notices of other programs at Redis, and clocks that jump while slots and rests are counted.
 */

afterEach(() => vi.useRealTimers())

interface Line {
  readonly level: string
  readonly message: string
}

function logOf(lines: Line[]) {
  const note = (level: string) => (_: object, message: string) => void lines.push({ level, message })
  return { info: note('info'), warn: note('warn'), error: note('error') }
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 8; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** A hub and two members. Messages pass through JSON, as between processes. */
function cluster() {
  const lines: Line[] = []
  const log = logOf(lines)
  const hub = new Hub(log)
  const raw: ((message: unknown) => void)[] = []
  const members = [0, 1].map(index => {
    let receive: (message: unknown) => void = () => {}
    const pass = (message: Json, to: (message: unknown) => void): void => {
      const text = JSON.stringify(message)
      setImmediate(() => to(JSON.parse(text)))
    }
    const member = new Member({ log, send: message => pass(message, one => receive(one)) })
    receive = hub.join(index, {
      send: message => pass(message, one => member.receive(one)),
      started: () => {},
      failed: () => {},
    })
    raw.push(one => receive(one))
    return member
  })
  return { hub, members, raw, lines }
}

/** Words that every object inherits, and words of the protocol itself. */
const WORDS = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  'stop',
  'retire',
  'lead',
  'started',
  'gather',
]

describe('messages that come twice or contradict themselves', () => {
  const port = (answer: (topic: string, message: Json) => Json = () => null) => {
    const sent: Json[] = []
    const notices: string[] = []
    const one = new Port({ send: batch => void sent.push(batch), answer, onNotice: topic => void notices.push(topic) })
    return { one, sent, notices }
  }

  test('a question is answered by its first answer, and never by one for an earlier question', async () => {
    const { one } = port()
    const first = one.ask('a', null)
    const answer = (id: number, value: Json) => one.receive([{ slot: 0, id, answer: value }])
    answer(1, 'right')
    answer(1, 'late')
    expect(await first).toBe('right')
    const second = one.ask('b', null)
    answer(1, 'stale')
    one.receive([{ slot: 0, id: 1, fault: 'stale' }])
    one.receive([{ slot: 0, id: 3, answer: 'of the future' }])
    answer(2, 'second')
    expect(await second).toBe('second')
  })

  test('an answer that is also a fault is a fault, a question that is also a notice is a notice', async () => {
    const { one, notices, sent } = port(() => 'answered')
    const asked = one.ask('a', null)
    one.receive([{ slot: 0, id: 1, answer: 'x', fault: 'y' }])
    await expect(asked).rejects.toThrow('y')
    one.receive([{ ask: 'a', notice: 'n', slot: 0, id: 1 }])
    await settled()
    expect(notices).toEqual(['n'])
    expect(JSON.stringify(sent)).not.toContain('answered')
  })

  test('values of wrong types in every field break nothing', async () => {
    const { one, sent } = port(() => 'answered')
    const asked = one.ask('a', null)
    const values: readonly Json[] = [null, -1, 0.5, 1e9, '', '0', '__proto__', [], {}, true, 2 ** 53]
    for (const slot of values)
      for (const id of values) {
        if (slot === 0 && id === 1) continue
        one.receive([{ slot, id, answer: 1 }, { slot, id, fault: 2 }, { slot, id }, slot, { ask: id, slot, id }])
        one.receive({ notice: slot } as never)
      }
    one.receive([{ slot: 0, id: 1, answer: 'right' }])
    expect(await asked).toBe('right')
    await settled()
    const answered = (sent.flat() as JsonObject[]).filter(message => 'answer' in message)
    expect(answered.every(({ slot, id }) => typeof slot === 'number' && typeof id === 'number')).toBe(true)
    one.close()
  })

  test('steps that come twice, or enter and leave at once, leave exactly the slots that are held', async () => {
    const engine = new MemoryEngine(() => 0)
    const step = (more: Partial<LimitStep>): LimitStep => ({
      ...{ key: 'k', limits: { concurrent: 2 }, requests: 0, tokens: 0, cost: 0, enforced: true, ...more },
    })
    const states = await takeSteps(engine, [
      ...[step({ enter: 'a.1' }), step({ enter: 'a.1' }), step({ enter: 'a.1', leave: 'a.1' })],
      ...[
        step({ leave: 'a.9', enforced: false }),
        step({ enter: 'a.2' }),
        step({ enter: 'a.2' }),
        step({ enter: 'a.3' }),
      ],
      ...[step({ enter: 'a.4' }), step({ leave: 'a.2', enforced: false }), step({ leave: 'a.2', enforced: false })],
      ...[step({ enter: 'a.5' }), step({ enter: 'a.6' })],
    ])
    expect(states.map(({ refused }) => refused !== undefined)).toEqual([
      ...[false, false, false],
      ...[false, false, false, false],
      ...[true, false, false],
      ...[false, true],
    ])
  })

  test('states that do not fit the steps are of no step, and all are counted here', async () => {
    for (const states of [[], [{}, {}, {}], null]) {
      const limits = new Limits({ now: () => 0, ask: async () => states as never })
      const one = limits.of('k', { rpm: 1 })
      await one.enter()
      expect(() => limits.of('k', { rpm: 1 }).enter()).toThrow()
      expect([limits.isAlone, limits.missed > 0]).toEqual([true, true])
      limits.close()
    }
  })

  test('rests and ends of one target in one notice count in their order', () => {
    const { receive, channel } = follower()
    const rest = (more: object) => ({ channel: channel.config.name, milliseconds: 5000, ...more })
    receive([rest({ model: 'a' }), rest({ model: 'a', milliseconds: 0 }), rest({ model: 'b', milliseconds: 0 })])
    receive([rest({ model: 'b' }), rest({ model: 'b' }), rest({ model: 'b', milliseconds: 1e300 })])
    const now = Date.now()
    expect([...channel.resting.models.keys()]).toEqual(['b'])
    expect(rests({ inFlight: 0, resting: channel.resting.models }, 'b', now)).toBe(true)
    expect(channel.resting.models.get('b')! - now).toBeLessThanOrEqual(60_000)
    receive([rest({ refusal: 'unauthenticated' }), rest({ milliseconds: 0, refusal: 'unauthenticated' })])
    expect([channel.resting.until, channel.resting.refusal]).toEqual([undefined, undefined])
  })
})

/** A channel that follows the notices about rests. */
function follower(name = 'a channel') {
  let listener: Listener = () => {}
  const published: Json[] = []
  const bus: Bus = {
    publish: (_, message) => void published.push(message),
    subscribe: (_, one) => {
      listener = one
      return () => {}
    },
    close: async () => {},
  }
  const channel = new Channel(channelAt('http://127.0.0.1:9', { name }))
  const shared = new SharedRest(bus, one => (one === channel.config.name ? channel : undefined))
  shared.follow(channel)
  return { channel, shared, published, receive: (message: Json) => listener(message) }
}

describe('topics and names that mean something else', () => {
  test('are no questions, notices and orders', async () => {
    const { hub, members, lines, raw } = cluster()
    const [one, other] = members as [Member, Member]
    const orders: string[] = []
    for (const topic of ['stop', 'retire', 'reload']) other.onOrder(topic, () => orders.push(topic))
    for (const word of WORDS) {
      if (!['gather', 'started'].includes(word)) await expect(one.ask(word, null)).rejects.toThrow()
      expect(await one.gather(word, null)).toEqual([])
      one.bus.publish(word as never, 'SIGTERM')
      raw[0]!([{ notice: word, message: true }])
    }
    await settled()
    expect([orders, other.leads, one.leads]).toEqual([[], false, false])
    expect(lines.filter(({ level }) => level === 'error')).toEqual([])
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
    hub.close()
  })

  test('of models and channels with line ends are told apart', async () => {
    vi.useFakeTimers()
    const [one, two] = [follower('a'), follower('a\n')]
    const { published } = one
    // Both names together read the same, wherever the line end belongs.
    one.channel.resting.restModel('\nb', Date.now() + 5000, Date.now())
    one.channel.resting.restModel('b', Date.now() + 5000, Date.now())
    one.channel.resting.restChannel(Date.now() + 5000)
    const shared = new SharedRest({ ...busTo(published), close: async () => {} }, () => undefined)
    shared.follow(one.channel)
    shared.follow(two.channel)
    one.channel.resting.restModel('\nx', Date.now() + 5000, Date.now())
    two.channel.resting.restModel('x', Date.now() + 5000, Date.now())
    vi.advanceTimersByTime(100)
    const told = published.flat().map(change => {
      const { channel, model } = change as JsonObject
      return JSON.stringify([channel, model])
    })
    expect(told.sort()).toEqual(
      [['a', '\nb'], ['a', 'b'], ['a'], ['a', '\nx'], ['a\n', 'x']]
        .map(pair => JSON.stringify(pair.length === 1 ? [...pair, undefined] : pair))
        .sort(),
    )
  })

  const busTo = (published: Json[]) => ({
    publish: (_: unknown, message: Json) => void published.push(message),
    subscribe: () => () => {},
  })
})

describe('notices of other programs at Redis', () => {
  /** A bus over a Redis to which anybody may publish. */
  function redisBus() {
    const lines: Line[] = []
    const channels = new Map<string, (text: string) => void>()
    const link = {
      publish: () => {},
      subscribe: (channel: string, listener: (text: string) => void) => {
        channels.set(channel, listener)
        return () => {}
      },
    }
    const bus = new RedisBus(link, 'me', logOf(lines))
    return { bus, lines, send: (topic: string, text: string) => channels.get(`interlingua:${topic}`)?.(text), channels }
  }

  const RUBBISH = [
    ...['', 'x', '{', 'null', '7', '[]', '[[]]', '{"from":"me","message":[]}', '{"from":"you"}', '{"message":null}'],
    ...['{"from":"you","message":"x"}', '{"from":"you","message":{"__proto__":{"admin":1}}}'],
    ...['{"from":"you","message":[null,7,"x",[],{},{"type":"over"},{"type":"over","request":null}]}'],
    ...['{"from":"you","message":[{"type":"over","request":{"id":7,"at":"x"}}]}'],
    ...['{"from":"you","message":[{"type":"begun","request":{"id":"r","at":9e99}}]}'],
    ...['{"from":"you","message":[{"type":"over","request":{"id":"r","at":1,"failure":7,"tries":7}}]}'],
    ...['{"from":"you","message":[{"channel":"a channel","milliseconds":"x"},{"channel":["a channel"],"model":{}}]}'],
    ...['{"from":"you","message":["hash","issuer",7,null]}', '{"from":"you","message":[{"x":1},{"y":2}]}'],
  ]

  test('reach only listeners that can read them, and log nothing', () => {
    const { bus, lines, send, channels } = redisBus()
    const seen: LiveEvent[] = []
    const live = new Live(bus)
    live.listen({ owner: 'tests', take: event => void seen.push(event), end: () => {} })
    const channel = new Channel(channelAt('http://127.0.0.1:9', { name: 'a channel' }))
    const rest = new SharedRest(bus, name => (name === 'a channel' ? channel : undefined))
    const records = {
      putSignatures: async () => {},
      signatures: async () => new Map(),
      hasSignatures: async () => false,
    }
    const signers = new Signers({ records, bus, isStored: () => false, onFault: () => {} }, [])
    expect([...channels.keys()].sort()).toEqual(TOPICS.map(topic => `interlingua:${topic}`).sort())
    for (const topic of TOPICS) for (const text of RUBBISH) send(topic, text)
    for (const topic of ['stop', 'lead', '__proto__']) send(topic, '{"from":"you","message":true}')
    send('live', '{"from":"you","message":[null,{"type":"over","request":{"id":"r","at":1}}]}')
    expect(seen).toEqual([{ type: 'over', request: { id: 'r', at: 1 } }])
    expect([channel.resting.until, channel.resting.models.size]).toEqual([undefined, 0])
    expect(lines).toEqual([])
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
    live.close()
    rest.close()
    signers.close()
  })

  test('about thousands of models leave a bounded number of rests', () => {
    const { bus, send } = redisBus()
    const channel = new Channel(channelAt('http://127.0.0.1:9', { name: 'a channel' }))
    const rest = new SharedRest(bus, () => channel)
    for (let batch = 0; batch < 20; batch++) {
      const changes = Array.from({ length: 500 }, (_, at) => ({
        channel: 'c',
        model: `${batch}.${at}`,
        milliseconds: 1e9,
      }))
      send('health', JSON.stringify({ from: 'you', message: changes }))
    }
    expect(channel.resting.models.size).toBeLessThanOrEqual(256)
    rest.close()
  })
})

describe('clocks that jump', () => {
  test.each([-400 * DAY, -DAY, DAY, 400 * DAY])(
    'by %d ms: nobody is told of requests for longer than somebody watches',
    jump => {
      vi.useFakeTimers({ now: Date.UTC(2026, 10, 22) })
      const buses = connected(2)
      const [one, two] = [new Live(buses[0]!), new Live(buses[1]!)]
      const seen: LiveEvent[] = []
      const stop = one.listen({ owner: 'tests', take: event => void seen.push(event), end: () => {} })
      vi.setSystemTime(Date.now() + jump)
      expect(two.isWatched).toBe(true)
      two.requestEnded({ id: 'r', at: 1 } as UsageRow)
      vi.advanceTimersByTime(1000)
      expect(seen).toHaveLength(1)
      stop()
      vi.advanceTimersByTime(20_000)
      expect([one.isWatched, two.isWatched]).toEqual([false, false])
      two.requestEnded({ id: 'r', at: 1 } as UsageRow)
      vi.advanceTimersByTime(1000)
      expect(seen).toHaveLength(1)
      one.close()
      two.close()
    },
  )

  test.each([-400 * DAY, -DAY, DAY, 400 * DAY])('by %d ms: what is absent now is looked up a minute later', jump => {
    let now = Date.UTC(2026, 10, 22)
    const absent = new AbsentNames(() => now)
    absent.add('late', false)
    absent.add('never', true)
    expect([absent.has('late'), absent.has('never')]).toEqual([true, true])
    now += jump
    absent.add('again', false)
    now += 60_001
    expect([absent.has('late'), absent.has('again'), absent.has('never')]).toEqual([false, false, true])
  })

  test.each([-400 * DAY, -DAY, DAY, 400 * DAY])(
    'by %d ms at one process: a rest lasts no longer at the other than there',
    jump => {
      vi.useFakeTimers({ now: Date.UTC(2026, 10, 22) })
      const [one, two] = [follower(), follower()]
      vi.setSystemTime(Date.now() + jump)
      const now = Date.now()
      one.channel.resting.restModel('m', now + 30_000, now)
      vi.advanceTimersByTime(50)
      expect(one.published).toHaveLength(1)
      vi.setSystemTime(now - jump)
      two.receive(one.published[0]!)
      const restsAt = (time: number) => rests({ inFlight: 0, resting: two.channel.resting.models }, 'm', time)
      const there = Date.now()
      expect([restsAt(there), restsAt(there + 29_000), restsAt(there + 31_000)]).toEqual([true, true, false])
      // After the clock is set right, nothing rests for days.
      expect([restsAt(there + DAY), restsAt(there - DAY)]).toEqual([false, false])
    },
  )

  test('of the primary: slots of workers stay taken, budgets stay spent, and quotas never exceed a minute', async () => {
    let now = Date.UTC(2026, 10, 22, 12)
    const primary = new Limits({ now: () => now })
    const { hub, members } = cluster()
    hub.answer('limits', async steps => (await primary.take(steps as unknown as LimitStep[])) as unknown as Json)
    const workers = members.map(member => {
      const ask = async (steps: readonly LimitStep[]) => (await member.ask('limits', steps as unknown as Json)) as never
      return new Limits({ now: () => now, owner: member.id, ask, spent: async () => ({ day: 0, month: 0 }) })
    })
    const settings = { concurrent: 2, rpm: 4, budget: { day: 1, month: 2 } }
    const request = (worker: number) => workers[worker]!.of('k', settings)
    const refused = (worker: number) =>
      Promise.resolve(request(worker).enter()).then(
        () => false,
        () => true,
      )
    const [one, two] = [request(0), request(1)]
    await one.enter()
    await two.enter()
    for (const jump of [DAY, -DAY, 31 * DAY, -31 * DAY, -3600_000]) {
      now += jump
      expect(await refused(0), `slots after ${jump}`).toBe(true)
    }
    now = Date.UTC(2026, 10, 22, 12)
    await one.reserve(
      () => ({ input: 1 }),
      1,
      () => 9e8,
    )
    now += 31 * DAY
    one.settle({}, 1e9)
    now -= 31 * DAY
    // The cost belongs to the day in which it was reserved.
    expect(await refused(1)).toBe(true)
    two.leave()
    now += DAY
    let admitted = 0
    for (let count = 0; count < 9; count++) {
      const more = request(count % 2)
      await Promise.resolve(more.enter()).then(
        () => {
          admitted++
          more.leave()
        },
        () => {},
      )
    }
    expect(admitted).toBe(4)
    for (const worker of workers) worker.close()
    primary.close()
    hub.close()
  })
})

/** Connected buses of several processes. A process never receives its own messages. */
function connected(count: number): readonly Bus[] {
  const all = Array.from({ length: count }, () => new Map<string, Listener>())
  return all.map(own => ({
    publish(topic, message) {
      for (const other of all) if (other !== own) other.get(topic)?.(structuredClone(message))
    },
    subscribe(topic, listener) {
      own.set(topic, listener)
      return () => own.delete(topic)
    },
    close: async () => {},
  }))
}
