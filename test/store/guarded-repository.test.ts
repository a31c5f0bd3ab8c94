import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Events } from '../../src/store/events.ts'
import { guardedRepository } from '../../src/store/guarded-repository.ts'
import { LazyStore } from '../../src/store/lazy-store.ts'
import { MODES, type Mode, type Modes } from '../../src/store/modes.ts'
import type { Repositories } from '../../src/store/store.ts'

const dir = mkdtempSync(join(tmpdir(), 'guarded-'))
afterAll(() => rmSync(dir, { recursive: true }))

type Call = (...given: unknown[]) => Promise<unknown>

test('each method of each room calls the one of its name in its mode, with what it is given', async () => {
  for (const [room, modes] of Object.entries(MODES)) {
    const used: Mode[] = []
    const methods = Object.keys(modes).map(name => {
      const method = function (this: unknown, ...given: unknown[]) {
        return Promise.resolve([name, this === there, ...given])
      }
      return [name, method]
    })
    const there = Object.fromEntries(methods)
    const guard = {
      exists: () => true,
      use: <T>(mode: Mode, work: (store: Repositories) => Promise<T>) => {
        used.push(mode)
        return work({ [room]: there } as unknown as Repositories)
      },
    }
    const guarded = guardedRepository<Record<string, Call>>(modes, guard, store => Reflect.get(store, room))
    for (const [name, row] of Object.entries<Mode | { readonly mode: Mode }>(modes)) {
      expect(await guarded[name]!(1, 'two')).toEqual([name, true, 1, 'two'])
      expect(used.pop()).toBe(typeof row === 'string' ? row : row.mode)
    }
    expect(Object.keys(guarded)).toEqual(Object.keys(modes))
  }
})

test('what is looked for without a store is answered, and makes none', async () => {
  const path = join(dir, 'none.sqlite')
  const store = new LazyStore({ engine: 'sqlite', path }, dir, { info() {}, warn() {}, error() {} })
  const answers: Record<string, unknown> = {}
  for (const room of ['console', 'shared', 'captures'] as const) {
    const methods = store[room] as unknown as Record<string, Call>
    for (const [name, row] of Object.entries<unknown>(MODES[room]))
      if (typeof row !== 'string') answers[`${room}.${name}`] = await methods[name]!()
  }
  expect(answers).toEqual({
    ...{
      'console.users': [],
      'console.user': undefined,
      'console.userOf': undefined,
      'console.signInSession': undefined,
    },
    ...{ 'console.attempt': undefined, 'shared.secret': undefined, 'shared.image': undefined },
    ...{ 'shared.note': undefined, 'shared.takeNote': undefined, 'shared.reasoning': [], 'captures.find': undefined },
    ...{ 'captures.existing': new Set(), 'captures.list': { found: [], more: false }, 'captures.drop': false },
    ...{ 'shared.signatures': new Map(), 'shared.hasSignatures': false },
  })
  expect(Object.keys(answers).length).toBe(16)
  expect(existsSync(path)).toBe(false)
  await store.close()
})

test('a method without its mode does not compile, nor does an answer that is none of its own', () => {
  // @ts-expect-error: `drop` has no mode.
  const incomplete: Modes<Events> = { from: 'reads', count: 'reads', add: 'writes' }
  // @ts-expect-error: `count` answers a number.
  const wrong: Modes<Events> = { ...MODES.events, count: { mode: 'reads', withoutStore: [] } }
  expect([incomplete, wrong].map(modes => Object.keys(modes).length)).toEqual([3, 4])
})
