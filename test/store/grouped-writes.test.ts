import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GroupedWrites } from '../../src/store/grouped-writes.ts'

interface Write {
  readonly key: string
  readonly value: number
  readonly size?: number
  readonly bad?: boolean
}

class Fault extends Error {}

/** A table that stores the value of each key, and records the groups that were written. */
function table(fails: () => boolean = () => false) {
  const rows = new Map<string, number>()
  const groups: (readonly Write[])[] = []
  let open = 0
  const most = { open: 0 }
  const writes = new GroupedWrites<Write, string>({
    async write(all) {
      groups.push(all)
      most.open = Math.max(most.open, ++open)
      await new Promise(done => setImmediate(done))
      open--
      if (fails()) throw new Fault()
      if (all.some(({ bad }) => bad)) throw new Error('bad')
      for (const { key, value } of all) rows.set(key, value)
      return all.map(({ key }) => `${key} written`)
    },
    sizeOf: ({ size = 1 }) => size,
    keyOf: ({ key }) => key,
    isFault: thrown => thrown instanceof Fault,
  })
  return { writes, rows, groups, most }
}

describe('writes of one turn of the event loop', () => {
  test('each get their own result, also if they are retried alone', async () => {
    const { writes } = table()
    const all = ['a', 'b'].map(key => writes.add({ key, value: 1 }))
    expect(await Promise.all(all)).toEqual(['a written', 'b written'])
    const refused = writes.add({ key: 'c', value: 1, bad: true }).catch(() => 'refused')
    expect(await Promise.all([refused, writes.add({ key: 'd', value: 1 })])).toEqual(['refused', 'd written'])
  })

  test('are one group, and those that come meanwhile are the next', async () => {
    const { writes, groups } = table()
    const first = [1, 2, 3].map(value => writes.add({ key: `${value}`, value }))
    await new Promise(done => setImmediate(done))
    const second = [4, 5].map(value => writes.add({ key: `${value}`, value }))
    await Promise.all([...first, ...second])
    expect(groups.map(all => all.map(({ value }) => value))).toEqual([
      [1, 2, 3],
      [4, 5],
    ])
  })

  test('one that cannot be written fails alone', async () => {
    const { writes, rows } = table()
    const added = [1, 2, 3].map(value => writes.add({ key: `${value}`, value, bad: value === 2 }))
    const settled = await Promise.allSettled(added)
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect([...rows.keys()]).toEqual(['1', '3'])
  })

  test('a fault that is none of theirs fails all of them, and is met once', async () => {
    const { writes, groups } = table(() => true)
    const settled = await Promise.allSettled([1, 2, 3].map(value => writes.add({ key: `${value}`, value })))
    expect(settled.every(({ status }) => status === 'rejected')).toBe(true)
    expect(groups).toHaveLength(1)
  })

  test('that wait when they are closed are written, or fail with the first fault', async () => {
    for (const fails of [false, true]) {
      const { writes, rows, groups } = table(() => fails)
      const added = Promise.allSettled(
        Array.from({ length: 120 }, (_, value) => writes.add({ key: `${value}`, value })),
      )
      await writes.close()
      expect(rows.size).toBe(fails ? 0 : 120)
      expect(groups).toHaveLength(fails ? 1 : 3)
      expect(new Set((await added).map(({ status }) => status))).toEqual(new Set([fails ? 'rejected' : 'fulfilled']))
      await writes.close()
    }
  })

  test('large ones are groups of their own', async () => {
    const { writes, groups } = table()
    await Promise.all([1, 2, 3].map(value => writes.add({ key: `${value}`, value, size: 700_000 })))
    expect(groups).toHaveLength(3)
  })
})

test('every write settles, the last of a key stays, and no group has a key twice or more than fifty writes', async () => {
  const one = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e'), value: fc.nat(), bad: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(one, { maxLength: 80 }), { maxLength: 4 }), async turns => {
      const { writes, rows, groups, most } = table()
      const added = []
      for (const turn of turns) {
        for (const write of turn) added.push(Promise.allSettled([writes.add(write)]))
        await new Promise(done => setImmediate(done))
      }
      const settled = (await Promise.all(added)).flat()
      const all = turns.flat()
      expect(settled.map(({ status }) => status === 'rejected')).toEqual(all.map(({ bad }) => bad))
      expect(rows).toEqual(new Map(all.filter(({ bad }) => !bad).map(({ key, value }) => [key, value])))
      expect(most.open).toBeLessThanOrEqual(1)
      for (const group of groups) {
        expect(new Set(group.map(({ key }) => key)).size).toBe(group.length)
        expect(group.length).toBeLessThanOrEqual(50)
      }
    }),
    { numRuns: 100 },
  )
})
