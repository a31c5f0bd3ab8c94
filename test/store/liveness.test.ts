import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Liveness } from '../../src/store/liveness.ts'
import { openSqlite } from '../../src/store/store.ts'
import { scratch } from '../stored/test-server.ts'

let data: ReturnType<typeof scratch>
beforeEach(() => {
  data = scratch()
})
afterEach(() => data.drop())

describe('a process', () => {
  test('is alive from its beginning to its end, for all who share its folder', () => {
    const [one, other] = [new Liveness(data.path), new Liveness(data.path)]
    expect(other.isAlive(one.id)).toBe(false)
    one.open()
    one.open()
    for (const who of [one, other]) expect(who.isAlive(one.id)).toBe(true)
    for (const who of [one, other]) expect(who.isAlive(one.id)).toBe(true)
    one.close()
    for (const who of [one, other]) expect(who.isAlive(one.id)).toBe(false)
    expect(readdirSync(data.path)).toEqual([])
  })

  test('of which nothing can be told is neither', () => {
    const one = new Liveness(data.path)
    for (const id of ['', '../x', 'w']) expect(one.isAlive(id)).toBeUndefined()
    const odd = 'a'.repeat(32)
    writeFileSync(join(data.path, odd), 'this is no database, and longer than its head would be'.repeat(9))
    expect(one.isAlive(odd)).toBeUndefined()
  })

  test('takes away what killed ones left, and nothing else', () => {
    const [old, young, alive] = ['a', 'b', 'c'].map(one => join(data.path, one.repeat(32))) as [string, string, string]
    const running = new DatabaseSync(alive)
    running.exec('begin exclusive')
    for (const path of [old, young, join(data.path, 'else')]) writeFileSync(path, '')
    for (const path of [old, alive, join(data.path, 'else')]) utimesSync(path, 1, 1)
    const one = new Liveness(data.path)
    one.open()
    expect([old, young, alive, join(data.path, 'else')].map(existsSync)).toEqual([false, true, true, true])
    one.close()
    running.close()
  })
})

test('a store of before is given what it lacks, by however many at once', async () => {
  const path = join(data.path, 'x.sqlite')
  const before = new DatabaseSync(path)
  before.exec(`create table turns (owner text not null, id text not null, previous text, channel text,
    remembered integer not null, response text not null, tape text, created_at bigint not null,
    expires_at bigint not null, lease bigint, gone integer not null, primary key (owner, id))`)
  before.exec(`insert into turns values ('me', 'a', null, null, 0, '{"id":"a"}', '["{}"]', 0, 9e15, null, 0)`)
  before.close()
  const [one, other] = await Promise.all([openSqlite(path), openSqlite(path)])
  expect(await one.turns.find('me', 'a')).toMatchObject({ id: 'a', response: { id: 'a', output: [] } })
  await other.turns.keep({ ...(await one.turns.find('me', 'a'))!, lease: 1, worker: 'w', copy: 'c' })
  expect(await one.turns.find('me', 'a')).toMatchObject({ worker: 'w', copy: 'c' })
  await one.close()
  await other.close()
})
