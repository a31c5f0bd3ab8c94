import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import { isPassword } from '../../src/operators/sign-in/scrypt.ts'
import { LOCK } from '../../src/operators/sign-in/sign-in.ts'
import { attemptFor } from '../../src/operators/sign-in/user-name.ts'
import type { Store } from '../../src/store/store.ts'
import { openStoreAt, storeAt, written } from '../builders/engines.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'line-'))
  writeFileSync(join(dir, 'config.yaml'), `data_dir: ${dir}\nstore: "${written(storeAt(dir))}"\n`)
})
afterEach(() => rmSync(dir, { recursive: true }))

async function run(line: string): Promise<{ code: number; out: string; fault: string }> {
  const [out, fault]: string[][] = [[], []]
  const terminal = { out: (text: string) => out!.push(text), fault: (text: string) => fault!.push(text) }
  const code = await commandLine([...line.split(' '), '-c', join(dir, 'config.yaml')], terminal)
  return { code, out: out!.join('\n'), fault: fault!.join('\n') }
}

async function stored<T>(work: (records: Store['console']) => Promise<T>): Promise<T> {
  const store = await openStoreAt(dir)
  return work(store.console).finally(() => store.close())
}

test('users are added with a password that is printed once, and listed without it', async () => {
  const added = await run('console user add Bob')
  expect(added).toMatchObject({ code: 0, out: expect.stringMatching(/^([a-z]{5}-){3}[a-z]{5}$/) })
  const bob = await stored(users => users.user('bob'))
  expect(bob).toMatchObject({ role: 'viewer', source: 'password' })
  expect(await isPassword(added.out, bob!.password)).toBe(true)
  await run('console user add eve --role admin')
  const { out } = await run('console users')
  expect(out).toMatch(/^bob +viewer +password +yes +\d{4}-\S+ \S+ +never$/m)
  expect(out).toMatch(/^eve +admin /m)
  expect(out).not.toContain(added.out)
  expect(await run('console user add BOB')).toMatchObject({ code: 1, fault: expect.stringContaining('already') })
  expect(await run('console user add ../x')).toMatchObject({ code: 2 })
  expect(await run('console user add x --role root')).toMatchObject({ code: 2 })
})

test('a new password ends sessions and a lock', async () => {
  await run('console user add bob')
  const session = { hash: 'h', user: 'bob', createdAt: Date.now(), usedAt: Date.now(), expiresAt: Date.now() + 60_000 }
  await stored(async users => {
    expect(await users.openSignInSession(session, (await users.user('bob'))!.password, 5)).toBe(true)
    for (let count = 0; count < LOCK.perNetwork; count++) await users.attempt(attemptFor('bob', '203.0.113.1'), LOCK)
    expect(await users.attempt(attemptFor('bob', '203.0.113.1'), LOCK)).toBeGreaterThan(Date.now())
  })
  const { out, code } = await run('console password bob')
  expect(code).toBe(0)
  await stored(async users => {
    expect(await isPassword(out, (await users.user('bob'))!.password)).toBe(true)
    expect(await users.signInSession('h')).toBeUndefined()
    expect(await users.attempt(attemptFor('bob', '203.0.113.1'), LOCK)).toBeUndefined()
  })
})

test('without a name it is that of admin, who is made where there is nobody; of strangers there is none', async () => {
  expect((await run('console users')).fault).toContain('console password')
  expect(await run('console password eve')).toMatchObject({ code: 1, out: '' })
  expect((await run('console password')).code).toBe(0)
  expect(await stored(users => users.user('admin'))).toMatchObject({ role: 'admin', enabled: true })
  await stored(users =>
    users.addUser({ name: 'far', role: 'viewer', source: 'oidc', subject: 's', enabled: true, createdAt: 0 }),
  )
  expect(await run('console password far')).toMatchObject({ code: 1, fault: expect.stringContaining('provider') })
})
