import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/store.ts'
import type { Turn } from '../../src/store/turns.ts'
import { TIMED } from '../builders/time.ts'

const folder = mkdtempSync(join(tmpdir(), 'interlingua-backup-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a statement in a file, as the program `sqlite3` does. */
const RUN = `const { DatabaseSync } = require('node:sqlite')
new DatabaseSync(process.argv[1]).exec(process.argv[2])`

/** Time between two writes of the gateway, in milliseconds. */
const PAUSE = 2
/** Maximum time of a backup, in milliseconds. It takes a tenth of a second. */
const MOST_MS = 20_000

const turn = (id: string, text = ''): Turn => ({
  ...{ owner: 'me', id, response: { id, output: [], text }, input: [] },
  ...{ createdAt: Date.now(), expiresAt: Date.now() + 60_000 },
})

test('the backup that the page of operations tells ends while a gateway writes, and is whole', TIMED, async () => {
  const page = readFileSync('docs/operations.md', 'utf8')
  const [, statement] = /\*\*SQLite\*\*: `sqlite3 data\/interlingua\.sqlite "([^"]+)"`/.exec(page)!
  const [path, backup] = [join(folder, 'x.sqlite'), join(folder, 'backup.sqlite')]
  const store = await openStore({ engine: 'sqlite', path })
  for (let at = 0; at < 30; at++) await store.turns.put(turn(`before ${at}`, 'x'.repeat(1_000_000)))
  let isDone = false
  const writing = (async () => {
    for (let at = 0; !isDone; at++) {
      await store.turns.put(turn(`meanwhile ${at}`))
      await sleep(PAUSE)
    }
  })()
  const args = ['-e', RUN, path, statement!.replace('FILE', backup)]
  await promisify(execFile)(process.execPath, args, { timeout: MOST_MS }).finally(() => {
    isDone = true
  })
  await writing
  await store.close()
  const copy = new DatabaseSync(backup)
  expect(copy.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
  expect(copy.prepare("select count(*) as count from turns where id like 'before %'").get()).toEqual({ count: 30 })
  copy.close()
})
