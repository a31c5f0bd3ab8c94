import { describe, expect, test } from 'vitest'
import type { Json } from '../../../src/canonical/node.ts'
import type { Bus } from '../../../src/store/cluster/bus.ts'
import { Hub } from '../../../src/store/cluster/hub.ts'
import { Member } from '../../../src/store/cluster/member.ts'
import { SingleProcessCluster } from '../../../src/store/cluster/single-process.ts'
import { tick, until } from '../../builders/time.ts'

const log = { info() {}, warn() {}, error() {} }

/** A bus to other machines that records its notices. */
function outsideBus() {
  const published: Json[] = []
  const listeners: ((message: Json) => void)[] = []
  const bus: Bus = {
    publish: (topic, message) => void published.push([topic, message]),
    subscribe: (topic, listener) => {
      if (topic === 'health') listeners.push(listener)
      return () => {}
    },
    close: async () => {},
  }
  const come = (message: Json): void => {
    for (const listener of listeners) listener(message)
  }
  return { bus, published, come }
}

/** A hub and its members. Messages between them pass through JSON, as between processes. */
function clusterOf(count: number, outside?: Bus) {
  const hub = new Hub(log)
  if (outside !== undefined) hub.connect(outside)
  const sent: number[] = []
  const members = Array.from({ length: count }, (_, index) => {
    let receive: (message: unknown) => void = () => {}
    const pass = (message: Json, to: (message: unknown) => void): void => {
      sent.push((message as Json[]).length)
      const text = JSON.stringify(message)
      setImmediate(() => to(JSON.parse(text)))
    }
    const member = new Member({ log, send: message => pass(message, receive) })
    receive = hub.join(index, {
      send: message => pass(message, one => member.receive(one)),
      started: () => {},
      failed: () => {},
    })
    return member
  })
  return { hub, members, sent }
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve))
}

describe('the bus of workers', () => {
  test('brings a notice to all others, here and elsewhere, once, and not back', async () => {
    const outside = outsideBus()
    const { members } = clusterOf(3, outside.bus)
    const got: string[] = []
    for (const [index, { bus }] of members.entries())
      bus.subscribe('health', message => got.push(`${index} ${JSON.stringify(message)}`))
    members[1]!.bus.publish('health', { a: 1 })
    await settled()
    expect(got).toEqual(['0 {"a":1}', '2 {"a":1}'])
    expect(outside.published).toEqual([['health', { a: 1 }]])

    got.length = 0
    outside.come('elsewhere')
    await settled()
    expect(got).toEqual(['0 "elsewhere"', '1 "elsewhere"', '2 "elsewhere"'])
    expect(outside.published).toHaveLength(1)
  })

  test('goes on where a listener throws, and after one ended', async () => {
    const { members } = clusterOf(2)
    const got: Json[] = []
    members[0]!.bus.subscribe('access', () => {
      throw new Error('no')
    })
    const end = members[0]!.bus.subscribe('access', message => got.push(message))
    members[1]!.bus.publish('access', 1)
    await settled()
    end()
    members[1]!.bus.publish('access', 2)
    await settled()
    expect(got).toEqual([1])
  })
})

describe('questions to the primary', () => {
  test('are answered, those of one turn sent together', async () => {
    const { hub, members, sent } = clusterOf(2)
    hub.answer('double', (message, worker) => [worker, 2 * Number(message)])
    const asked = Array.from({ length: 100 }, (_, index) => members[1]!.ask('double', index))
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 100 }, (_, index) => [1, 2 * index]))
    expect(sent[0]).toBe(100)
    expect(sent.length).toBeLessThan(5)
  })

  test('fail where nobody answers them, the answer throws, or the worker is gone', async () => {
    const { hub, members } = clusterOf(1)
    await expect(members[0]!.ask('unknown', null)).rejects.toThrow('no handler for unknown')
    hub.answer('bad', () => Promise.reject(new Error('broken')))
    await expect(members[0]!.ask('bad', null)).rejects.toThrow('broken')
    await expect(new SingleProcessCluster({}, log).ask('limits')).rejects.toThrow('no primary')
  })

  test('are bounded, and those answered make room', async () => {
    const { hub, members } = clusterOf(1)
    const waiting: (() => void)[] = []
    hub.answer('slow', () => new Promise(resolve => waiting.push(() => resolve(null))))
    const asked = Array.from({ length: 10_000 }, () => members[0]!.ask('slow', null))
    await expect(members[0]!.ask('slow', null)).rejects.toThrow('cannot ask')
    await until(() => waiting.length === 10_000)
    for (const end of waiting.splice(0)) end()
    await Promise.all(asked)
    const again = members[0]!.ask('slow', null)
    await until(() => waiting.length === 1)
    waiting[0]!()
    expect(await again).toBeNull()
  })
})

describe('gathering', () => {
  test('has the answers of all workers, asked for by any of them', async () => {
    const { hub, members } = clusterOf(3)
    for (const [index, member] of members.entries()) member.answer('count', message => [index, message])
    const all = [
      [0, 'm'],
      [1, 'm'],
      [2, 'm'],
    ]
    expect(await hub.gather('count', 'm')).toEqual(all)
    expect(await members[2]!.gather('count', 'm')).toEqual(all)
  })

  test('leaves those out that fail or are gone', async () => {
    const { hub, members } = clusterOf(3)
    members[0]!.answer('count', () => 1)
    members[1]!.answer('count', () => Promise.reject(new Error('no')))
    members[2]!.answer('count', () => new Promise(() => {}))
    const gathered = hub.gather('count', null)
    await settled()
    hub.leave(2)
    expect(await gathered).toEqual([1])
    await tick()
  })

  test('of a process that is alone has its own answer', async () => {
    const alone = new SingleProcessCluster({}, log)
    expect(await alone.gather('count')).toEqual([])
    alone.answer('count', message => [message])
    expect(await alone.gather('count', 7)).toEqual([[7]])
  })
})
