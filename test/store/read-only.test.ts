import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { closingAfterEach } from '../builders/closing.ts'

/* A SQLite file on a file system that became read-only, as Linux does after an error of the disk. */

const closing = closingAfterEach()
const SOURCES = join(import.meta.dirname, '../../src')

/** Stores a secret, and ends without closing the file. */
const WRITER = `
const { openSqlite } = await import('${SOURCES}/store/store.ts')
const store = await openSqlite(process.argv[1])
await store.shared.createSecret('before', Buffer.from('x'))
process.kill(process.pid, 'SIGKILL')`

/** Reads while nothing can be written, then makes the file system writable and waits until the store is. */
const READER = `
const { LazyStore } = await import('${SOURCES}/store/lazy-store.ts')
const { SILENT } = await import('${SOURCES}/log.ts')
const { execFileSync } = await import('node:child_process')
const { dirname } = await import('node:path')
const path = process.argv[1]
const store = new LazyStore({ engine: 'sqlite', path }, dirname(path), SILENT)
const read = async () => Buffer.from((await store.shared.secret('before')) ?? '').toString()
const write = () => store.shared.createSecret('after', Buffer.from('y')).then(() => true, () => false)
const first = [await read(), await write(), await read()]
execFileSync('mount', ['-o', 'remount,rw', dirname(path)])
let isWritten = false
for (let tries = 0; tries < 100 && !isWritten; tries++) {
  await new Promise(done => setTimeout(done, 100))
  isWritten = await write()
}
console.log(JSON.stringify([...first, isWritten, await read()]))
await store.close()`

const isolated = (script: string, ...words: string[]) =>
  spawnSync('unshare', ['-rm', 'sh', '-ec', script, 'sh', ...words], { encoding: 'utf8' })

/** Mounts are allowed in a namespace of their own, except in some containers. */
const canMount = isolated('mount -t tmpfs tmpfs /mnt').status === 0

test.skipIf(!canMount)('is read from, also by a new process, and written as soon as that is possible', () => {
  const folder = mkdtempSync(join(tmpdir(), 'read-only-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  const script = `
    mount -t tmpfs tmpfs "$1"
    "$2" --input-type=module -e "$3" -- "$1/x.sqlite" || true
    mount -o remount,ro "$1"
    "$2" --input-type=module -e "$4" -- "$1/x.sqlite"`
  const { stdout, stderr } = isolated(script, folder, process.execPath, WRITER, READER)
  expect([stdout.trim(), stderr.replace('Killed\n', '')]).toEqual([JSON.stringify(['x', false, 'x', true, 'x']), ''])
})
