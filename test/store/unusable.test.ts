import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import { readConfig } from '../../src/config/read.ts'
import { LazyStore } from '../../src/store/lazy-store.ts'
import { noPostgres, postgres } from '../builders/postgres.ts'

/* Commands for a PostgreSQL server that cannot be used name the server and the reason, and never print its password. */

const dirs: string[] = []
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true })
})

const PASSWORD = 'hunter2'
const LATIN = `latin_${process.pid}`
const SILENT = { info: () => {}, warn: () => {}, error: () => {} }

/** Runs a command with that store. */
async function run(url: string, ...words: string[]) {
  const dir = mkdtempSync(join(tmpdir(), 'unusable-'))
  dirs.push(dir)
  writeFileSync(join(dir, 'c.yaml'), JSON.stringify({ data_dir: dir, store: url }))
  const said: string[] = []
  const terminal = { out: (text: string) => void said.push(text), fault: (text: string) => void said.push(text) }
  const code = await commandLine([...words, '-c', join(dir, 'c.yaml')], terminal)
  return { code, said: said.join('\n') }
}

const FAULTS: Record<string, { url: (there: URL) => string; why: string }> = {
  'an unknown database': { url: ({ host }) => `postgres://bob:${PASSWORD}@${host}/nowhere`, why: 'does not exist' },
  'an unknown user': { url: ({ host }) => `postgres://bob:${PASSWORD}@${host}/postgres`, why: 'role "bob" does not' },
  'a server without TLS': {
    url: ({ host }) => `postgres://postgres:${PASSWORD}@${host}/postgres?sslmode=verify-full`,
    why: 'does not support SSL',
  },
  'a search path without a schema': {
    url: ({ host }) => `postgres://postgres:${PASSWORD}@${host}/postgres?options=-c%20search_path%3Dnowhere`,
    why: 'no schema has been selected',
  },
  'a database that lacks most characters': {
    url: ({ host }) => `postgres://postgres:${PASSWORD}@${host}/${LATIN}`,
    why: 'encoding LATIN1',
  },
  'nobody there': { url: () => `postgres://bob:${PASSWORD}@127.0.0.1:9/x`, why: 'ECONNREFUSED 127.0.0.1:9' },
  'nobody at any address of a host': { url: () => `postgres://bob:${PASSWORD}@localhost:9/x`, why: 'ECONNREFUSED' },
}

beforeAll(async () => {
  if (noPostgres === undefined)
    await (await postgres()).run(
      `create database ${LATIN} template template0 encoding 'LATIN1' locale_provider libc locale 'C'`,
    )
})
afterAll(async () => {
  if (noPostgres === undefined) await (await postgres()).run(`drop database ${LATIN} with (force)`)
})

describe.skipIf(noPostgres).each(Object.entries(FAULTS))('%s', (_, { url, why }) => {
  test.each([
    ['keys', 'create', 'a'],
    ['keys', 'list'],
    ['admin', 'token', 'a'],
  ])('%s %s', async (...words) => {
    const there = new URL((await postgres()).address('postgres'))
    const { code, said } = await run(url(there), ...words)
    expect(code).toBe(1)
    expect(said).toMatch(/^the store postgres:\/\/(bob|postgres)@\S+ cannot be used: /)
    expect(said).toContain(why)
    expect(said).not.toContain(PASSWORD)
  })

  test('store migrate', async () => {
    const address = url(new URL((await postgres()).address('postgres')))
    const { code, said } = await run(address, 'store', 'migrate', '--from', address, '--to', 'sqlite:/dev/null/x')
    expect([code, said.includes(PASSWORD)]).toEqual([1, false])
    expect(said).toContain(why)
  })

  test('a gateway starts without it', async () => {
    const store = readConfig(`store: "${url(new URL((await postgres()).address('postgres')))}"`, {}).store
    const lazy = new LazyStore(store, tmpdir(), SILENT)
    await lazy.start()
    expect(await lazy.check()).toBe('unreachable')
    await lazy.close()
  })
})

test('an address that is none is refused, and not repeated', async () => {
  const url = `postgres://bob:${PASSWORD}#/x@host/database`
  const { code, said } = await run(url, 'keys', 'list')
  expect([code, said.includes('hunter')]).toEqual([1, false])
  expect(said).toContain('percent-encode')
  const migrate = await run('sqlite:x', 'store', 'migrate', '--from', url, '--to', url)
  expect([migrate.code, migrate.said.includes('hunter')]).toEqual([2, false])
})
