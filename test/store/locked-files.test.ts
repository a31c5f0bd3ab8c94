import { existsSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SILENT } from '../../src/log.ts'
import { LazyStore } from '../../src/store/lazy-store.ts'
import { LockedFiles } from '../../src/store/locked-files.ts'
import { scratch } from '../gateway/stored/test-server.ts'

let data: ReturnType<typeof scratch>
beforeEach(() => {
  data = scratch()
})
afterEach(() => data.drop())

describe('a process', () => {
  test('is alive from its beginning to its end, for all who share its folder', async () => {
    const [one, other] = [new LockedFiles(data.path), new LockedFiles(data.path)]
    expect(await other.isAlive(one.id)).toBe(false)
    await one.open()
    await one.open()
    for (const who of [one, other]) expect(await who.isAlive(one.id)).toBe(true)
    for (const who of [one, other]) expect(await who.isAlive(one.id)).toBe(true)
    await one.close()
    for (const who of [one, other]) expect(await who.isAlive(one.id)).toBe(false)
    expect(readdirSync(data.path)).toEqual([])
  })

  test('of which nothing can be told is neither', async () => {
    const one = new LockedFiles(data.path)
    for (const id of ['', '../x', 'w']) expect(await one.isAlive(id)).toBeUndefined()
    const odd = 'a'.repeat(32)
    writeFileSync(join(data.path, odd), 'this is no database, and longer than its head would be'.repeat(9))
    expect(await one.isAlive(odd)).toBeUndefined()
  })

  test('takes away what killed ones left, and nothing else', async () => {
    const [old, young, alive] = ['a', 'b', 'c'].map(one => join(data.path, one.repeat(32))) as [string, string, string]
    const running = new DatabaseSync(alive)
    running.exec('begin exclusive')
    for (const path of [old, young, join(data.path, 'else')]) writeFileSync(path, '')
    for (const path of [old, alive, join(data.path, 'else')]) utimesSync(path, 1, 1)
    const one = new LockedFiles(data.path)
    await one.open()
    expect([old, young, alive, join(data.path, 'else')].map(existsSync)).toEqual([false, true, true, true])
    await one.close()
    running.close()
  })

  test('is alive for those that share its store, although their data folders differ', async () => {
    const path = join(data.path, 'store', 'x.sqlite')
    const link = join(data.path, 'link.sqlite')
    const open = (file: string, folder: string) =>
      new LazyStore({ engine: 'sqlite', path: file }, join(data.path, folder), SILENT)
    const first = open(path, 'first')
    await first.turns.find('me', 'x')
    symlinkSync(path, link)
    const [second, third] = [open(path, 'second'), open(link, 'third')]
    await first.liveness.open()
    for (const store of [second, third]) expect(await store.liveness.isAlive(first.liveness.id)).toBe(true)
    await first.close()
    for (const store of [second, third]) expect(await store.liveness.isAlive(first.liveness.id)).toBe(false)
    // A process of an earlier version locks a file in its data folder.
    const earlier = new LockedFiles(join(data.path, 'second', 'processes'))
    await earlier.open()
    expect(await second.liveness.isAlive(earlier.id)).toBe(true)
    await earlier.close()
    for (const store of [second, third]) await store.close()
  })
})
