import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { SILENT } from '../../src/log.ts'
import { LazyStore } from '../../src/store/lazy-store.ts'
import { openSqlite } from '../../src/store/store.ts'
import type { Turn } from '../../src/store/turns.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { pause } from '../builders/time.ts'
import { DAY } from '../builders/units.ts'

/* A backup that takes the place of the SQLite file while processes use it, with a log full of changes. */

const closing = closingAfterEach()

const turn = (id: string): Turn => ({
  ...{ owner: 'me', id, response: { id, output: [] }, input: [{ id: `i-${id}`, text: 'x'.repeat(3000) }] },
  ...{ createdAt: Date.now(), expiresAt: Date.now() + DAY },
})

/** What a file holds: whether it is sound, and the number of turns by the first letter of their ids. */
function contentOf(path: string): readonly unknown[] {
  const file = new DatabaseSync(path)
  const { integrity_check: state } = file.prepare('pragma integrity_check').get()!
  const counts = ['before', 'backup', 'after'].map(
    name => file.prepare('select count(*) as count from turns where id like ?').get(`${name}%`)!['count'],
  )
  file.close()
  return [state, ...counts]
}

async function folderWithBackup() {
  const folder = mkdtempSync(join(tmpdir(), 'replaced-file-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  const backup = join(folder, 'backup.sqlite')
  const store = await openSqlite(backup)
  for (let count = 0; count < 50; count++) await store.turns.put(turn(`backup ${count}`))
  await store.close()
  const path = join(folder, 'data', 'x.sqlite')
  mkdirSync(join(folder, 'data'))
  const open = () => {
    const lazy = new LazyStore({ engine: 'sqlite', path }, folder, SILENT)
    closing.push(() => lazy.close())
    return lazy
  }
  return { path, backup, open }
}

test.each([1, 2, 5])('%i processes go on with the backup, which keeps everything', async processes => {
  const { path, backup, open } = await folderWithBackup()
  const stores = Array.from({ length: processes }, open)
  for (let count = 0; count < 120; count++) await stores[count % processes]!.turns.put(turn(`before ${count}`))
  renameSync(backup, path)
  await pause(5)
  for (let count = 0; count < 30; count++) {
    await stores[count % processes]!.turns.put(turn(`after ${count}`))
    if (count % 7 === 0) await pause(1)
  }
  expect(contentOf(path)).toEqual(['ok', 0, 50, 30])
  for (const store of stores) expect(await store.turns.find('me', 'after 29')).toBeDefined()
  for (const store of stores) await store.close()
  expect(contentOf(path)).toEqual(['ok', 0, 50, 30])
  expect(readdirSync(join(path, '..'))).toEqual(['x.sqlite'])
})

test('a process that had only read goes on with the backup when it writes', async () => {
  const { path, backup, open } = await folderWithBackup()
  const [writer, reader] = [open(), open()]
  for (let count = 0; count < 120; count++) await writer.turns.put(turn(`before ${count}`))
  expect(await reader.turns.find('me', 'before 1')).toBeDefined()
  await reader.turns.find('me', 'before 1')
  renameSync(backup, path)
  await pause(5)
  await reader.turns.put(turn('after 1'))
  await writer.turns.put(turn('after 2'))
  expect(contentOf(path)).toEqual(['ok', 0, 50, 2])
})

/** Makes the path of the store a symbolic link to a file of another folder, and returns the path of that file. */
function linked(path: string, name: string): string {
  const [folder, link] = [join(path, '..', '..', 'linked'), `${path}.new`]
  mkdirSync(folder, { recursive: true })
  const file = join(folder, name)
  symlinkSync(file, link)
  renameSync(link, path)
  return file
}

test('a backup keeps everything in place of a file to which the path is a symbolic link', async () => {
  const { path, backup, open } = await folderWithBackup()
  const file = linked(path, 'y.sqlite')
  const stores = [open(), open()]
  for (let count = 0; count < 120; count++) await stores[count % 2]!.turns.put(turn(`before ${count}`))
  renameSync(backup, file)
  await pause(5)
  for (let count = 0; count < 30; count++) await stores[count % 2]!.turns.put(turn(`after ${count}`))
  for (const store of stores) await store.close()
  expect(contentOf(path)).toEqual(['ok', 0, 50, 30])
  expect(readdirSync(join(file, '..'))).toEqual(['y.sqlite'])
})

test('a file keeps everything if a symbolic link leads to another one from then on', async () => {
  const { path, backup, open } = await folderWithBackup()
  const first = linked(path, 'y.sqlite')
  const stores = [open(), open()]
  for (let count = 0; count < 120; count++) await stores[count % 2]!.turns.put(turn(`before ${count}`))
  const second = linked(path, 'z.sqlite')
  renameSync(backup, second)
  await pause(5)
  for (let count = 0; count < 30; count++) await stores[count % 2]!.turns.put(turn(`after ${count}`))
  for (const store of stores) await store.close()
  expect(contentOf(first)).toEqual(['ok', 120, 0, 0])
  expect(contentOf(second)).toEqual(['ok', 0, 50, 30])
})
