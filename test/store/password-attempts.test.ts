import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { PasswordAttempt } from '../../src/store/console-records.ts'
import { openStore } from '../../src/store/store.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { scratch } from '../gateway/stored/test-server.ts'

const RULES = { perNetwork: 3, total: 6, within: 60_000, lockedFor: 60_000 }

const from = (network: string, around?: string): PasswordAttempt => ({
  ...{ account: 'ada', network },
  ...(around === undefined ? {} : { widerNetwork: around }),
})

const ENGINES = [
  { name: 'SQLite', missing: undefined, isSqlite: true },
  { name: 'PostgreSQL', missing: noPostgres, isSqlite: false },
]

for (const { name, missing, isSqlite } of ENGINES)
  describe.skipIf(missing !== undefined)(`passwords that are tried, in ${name}`, () => {
    const closing = closingAfterEach()

    async function records() {
      const { path, drop } = scratch()
      closing.push(drop)
      const database = isSqlite ? undefined : await freshDatabase()
      if (database !== undefined) closing.push(() => database.drop())
      const store = await openStore(
        database === undefined
          ? { engine: 'sqlite', path: join(path, 'store.sqlite') }
          : { engine: 'postgres', url: database.url },
      )
      closing.push(() => store.close())
      return store.console
    }

    test('lock a name for one network, however many are tried at once', async () => {
      const console = await records()
      const tries = await Promise.all(Array.from({ length: 8 }, () => console.attempt(from('a'), RULES)))
      expect(tries.filter(until => until === undefined)).toHaveLength(3)
      expect(await console.attempt(from('b'), RULES)).toBeUndefined()
      expect(await console.attempt({ ...from('a'), account: 'bob' }, RULES)).toBeUndefined()
      await console.unlock('ada')
      expect(await console.attempt(from('a'), RULES)).toBeUndefined()
    })

    test('unlock one name only, whatever signs and cases others have', async () => {
      const console = await records()
      for (const account of ['ada', 'ADA', 'a%', 'a_a'])
        for (let tries = 0; tries < 4; tries++) await console.attempt({ ...from('a'), account }, RULES)
      await console.unlock('a%')
      await console.unlock('a_a')
      expect(await console.attempt(from('a'), RULES)).toBeGreaterThan(Date.now())
      await console.unlock('ada')
      expect(await console.attempt({ ...from('a'), account: 'ADA' }, RULES)).toBeGreaterThan(Date.now())
      expect(await console.attempt(from('a'), RULES)).toBeUndefined()
    })

    test('from many networks leave each one, and each site one, save where the password was right', async () => {
      const console = await records()
      await console.attempt(from('home'), RULES)
      await console.forgive(from('home'))
      for (let at = 0; at < 6; at++) expect(await console.attempt(from(`n${at}`), RULES)).toBeUndefined()
      expect(await console.attempt(from('n0'), RULES)).toBeGreaterThan(Date.now())
      expect(await console.attempt(from('x1', 'x'), RULES)).toBeUndefined()
      expect(await console.attempt(from('x2', 'x'), RULES)).toBeGreaterThan(Date.now())
      for (let wrong = 0; wrong < 3; wrong++) expect(await console.attempt(from('home'), RULES)).toBeUndefined()
      expect(await console.attempt(from('home'), RULES)).toBeGreaterThan(Date.now())
    })

    test('that are right count nowhere', async () => {
      const console = await records()
      for (let right = 0; right < 20; right++) {
        expect(await console.attempt(from(`n${right}`), RULES)).toBeUndefined()
        await console.forgive(from(`n${right}`))
      }
      expect(await console.attempt(from('y'), RULES)).toBeUndefined()
      expect(await console.attempt(from('y'), RULES)).toBeUndefined()
      await console.sweep()
      expect(await console.attempt(from('y'), RULES)).toBeUndefined()
    })
  })
