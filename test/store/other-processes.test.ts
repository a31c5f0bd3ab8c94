import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/store.ts'
import { keyOf } from './access-follower.ts'

const folder = mkdtempSync(join(tmpdir(), 'interlingua-processes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SQLITE = new URL('../../src/store/sqlite.ts', import.meta.url).href
const ASKING = `const { isSqliteInUse } = await import(process.argv[1])
process.stdout.write(String(isSqliteInUse(process.argv[2])))`

/** Whether another process finds the file in use. That process opens and closes the file, as a backup does. */
const isInUseElsewhere = (path: string): boolean =>
  execFileSync(process.execPath, ['--input-type=module', '-e', ASKING, SQLITE, path], { encoding: 'utf8' }) === 'true'

test('a file is in use for other processes however often it was opened here, and they leave it whole', async () => {
  const path = join(folder, 'shared.sqlite')
  const store = await openStore({ engine: 'sqlite', path })
  await store.access.createKey({ ...keyOf('a'), id: 'a', name: 'a' })
  expect(isInUseElsewhere(path)).toBe(true)
  // As at a start, the first key is looked up over a connection of its own.
  const second = await openStore({ engine: 'sqlite', path })
  await second.close()
  expect(isInUseElsewhere(path)).toBe(true)
  // The last process that closes a file deletes this log, with everything others write to it afterwards.
  expect(existsSync(`${path}-wal`)).toBe(true)
  await store.close()
  expect(isInUseElsewhere(path)).toBe(false)
})
