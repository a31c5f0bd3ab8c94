import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqlite } from '../../src/store/store.ts'
import { closingAfterEach } from '../builders/closing.ts'

/* A SQLite file that belongs to another user, as on a volume whose files a group shares. */

const closing = closingAfterEach()

/** A user who owns nothing. */
const NOBODY = 65_534

const PROGRAM = `
const { openSqlite } = await import(process.argv[1])
const store = await openSqlite(process.argv[2])
await store.shared.createSecret('by-nobody', Buffer.from('x'))
await store.close()`

test.skipIf(process.getuid?.() !== 0)('is used by those who may write it, and stays as it is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'file-owners-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'x.sqlite')
  const first = await openSqlite(path)
  await first.close()
  expect(statSync(path).mode & 0o777).toBe(0o600)
  chmodSync(folder, 0o777)
  chmodSync(path, 0o666)
  const words = [
    '--input-type=module',
    '-e',
    PROGRAM,
    '--',
    join(import.meta.dirname, '../../src/store/store.ts'),
    path,
  ]
  const { status, stderr } = spawnSync(process.execPath, words, { uid: NOBODY, gid: NOBODY, encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  expect(statSync(path).mode & 0o777).toBe(0o666)
  const again = await openSqlite(path)
  closing.push(() => again.close())
  expect(Buffer.from((await again.shared.secret('by-nobody'))!).toString()).toBe('x')
})
