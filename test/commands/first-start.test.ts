import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectedUser } from '../../src/commands/expected-user.ts'
import { prepareStart } from '../../src/commands/first-start.ts'
import { readConfig } from '../../src/config/read.ts'
import { isPassword } from '../../src/operators/sign-in/scrypt.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { openStoreAt, storeAt, written } from '../builders/engines.ts'

const closing = closingAfterEach()

function place(more = '') {
  const dir = mkdtempSync(join(tmpdir(), 'first-'))
  closing.push(() => rmSync(dir, { recursive: true }))
  const config = readConfig(`data_dir: ${dir}\nstore: "${written(storeAt(dir))}"\n${more}`, {})
  const faults: string[] = []
  const terminal = { out: () => {}, fault: (text: string) => faults.push(text) }
  const users = async () => {
    const store = await openStoreAt(dir)
    return store.console.users().finally(() => store.close())
  }
  return { dir, config, faults, terminal, users }
}

test('the first start makes a key and an admin, whose password is right; the next one makes nothing', async () => {
  const { config, terminal, users } = place()
  const first = await prepareStart(config, terminal)
  expect(first).toMatchObject({ created: expect.stringMatching(/^il-/), storedKeys: [] })
  // 20 letters of 23: 90 bits.
  expect(first.password).toMatch(/^([a-hjkmnp-z]{5}-){3}[a-hjkmnp-z]{5}$/)
  const [admin] = await users()
  expect(admin).toMatchObject({ name: 'admin', role: 'admin', source: 'password', enabled: true })
  expect(await isPassword(first.password!, admin!.password)).toBe(true)
  expect(JSON.stringify(admin)).not.toContain(first.password)
  expect(await prepareStart(config, terminal)).toMatchObject({ storedKeys: [{ name: 'first' }] })
  expect(await users()).toEqual([admin])
})

test('a user who was begun before the store was opened is the first, and nobody where there is one', async () => {
  const { dir, config, terminal, users } = place()
  const begun = expectedUser({ ...config, store: { engine: 'sqlite', path: join(dir, 'none.sqlite') } })
  const first = await prepareStart(config, terminal, begun)
  const [admin] = await users()
  expect(await isPassword(first.password!, admin!.password)).toBe(true)
  const second = expectedUser({ ...config, store: { engine: 'sqlite', path: join(dir, 'none.sqlite') } })
  expect((await prepareStart(config, terminal, second)).password).toBeUndefined()
  expect(await users()).toEqual([admin])
})

test('nobody is begun where there may be users, or no console', () => {
  const { dir, config } = place()
  writeFileSync(join(dir, 'old.sqlite'), '')
  expect(expectedUser({ ...config, store: { engine: 'sqlite', path: join(dir, 'old.sqlite') } })).toBeUndefined()
  const store = { engine: 'sqlite', path: join(dir, 'none.sqlite') } as const
  expect(expectedUser({ store })).toBeUndefined()
})

test('several instances that start at once make one admin, and one of them shows the password', async () => {
  const { config, terminal, users } = place()
  const all = await Promise.all(Array.from({ length: 4 }, () => prepareStart(config, terminal)))
  expect(await users()).toHaveLength(1)
  expect(all.filter(({ password }) => password !== undefined)).toHaveLength(1)
})

test('keys of the config suffice, and without a console nobody is made', async () => {
  const fixed = place('keys: [{ name: dev, key: dev-secret }]')
  const first = await prepareStart(fixed.config, fixed.terminal)
  expect([first.created, first.password === undefined]).toEqual([undefined, false])
  const off = place('console: false')
  expect(await prepareStart(off.config, off.terminal)).toMatchObject({ created: expect.any(String) })
  expect(await off.users()).toEqual([])
})

test('without the page of the console nobody is made, and the start that has it makes the first user', async () => {
  const { config, terminal, users } = place()
  const first = await prepareStart(config, terminal, undefined, false)
  expect([first.consoleNotBuilt, first.password, first.created]).toEqual([
    true,
    undefined,
    expect.stringMatching(/^il-/),
  ])
  expect(await users()).toEqual([])
  expect((await prepareStart(config, terminal)).password).toBeDefined()
})

test('a store that cannot be used keeps nothing from starting', async () => {
  const { dir, faults, terminal } = place()
  writeFileSync(join(dir, 'file'), 'no database')
  const config = readConfig(`data_dir: ${dir}\nstore: "sqlite:${join(dir, 'file')}"`, {})
  expect(await prepareStart(config, terminal)).toEqual({ storedKeys: [], storeUnreadable: true })
  expect(faults.join()).toContain('warning: stored keys cannot be read')
})
