import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { vi } from 'vitest'
import type { Breakage } from './breakages.ts'

/** Connections opened by the gateway under test, the latest last. */
const connections: DatabaseSync[] = []

/** Tracks connections opened from now on, so that faults can be injected into real ones. */
export function watchConnections(): void {
  const exec = DatabaseSync.prototype.exec
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql: string) {
    if (connections.at(-1) !== this) connections.push(this)
    exec.call(this, sql)
  })
}

const latest = (): DatabaseSync => connections.at(-1)!

const file = (dataDir: string): string => join(dataDir, 'interlingua.sqlite')

function besides(dataDir: string, put: () => void): () => void {
  const aside = `${dataDir}-aside`
  renameSync(dataDir, aside)
  put()
  return () => {
    rmSync(dataDir, { recursive: true })
    renameSync(aside, dataDir)
  }
}

/** Ways a real SQLite file breaks under a running gateway. */
export const OF_FILES: { readonly [name: string]: Breakage } = {
  'a full disk': {
    kind: 'full',
    reads: true,
    break: () => {
      // Allow no additional pages. Writes need some once the free pages are used.
      const connection = latest()
      connection.exec('pragma max_page_count = 1')
      connection.exec('pragma cache_size = 100')
      return () => connection.exec('pragma max_page_count = 1000000')
    },
  },
  'a file that became read-only': {
    kind: 'read-only',
    reads: true,
    break: () => {
      const connection = latest()
      connection.exec('pragma query_only = on')
      return () => connection.exec('pragma query_only = off')
    },
  },
  'a file another process holds': {
    kind: 'locked',
    reads: true,
    break: dataDir => {
      const other = new DatabaseSync(file(dataDir))
      other.prepare('begin immediate').run()
      return () => other.close()
    },
  },
  'a directory that became a file': {
    kind: 'unreachable',
    reads: false,
    break: dataDir => besides(dataDir, () => writeFileSync(dataDir, '')),
  },
  'a file that became a directory': {
    kind: 'unreachable',
    reads: false,
    break: dataDir => besides(dataDir, () => mkdirSync(file(dataDir), { recursive: true })),
  },
  'a file of something else': {
    kind: 'damaged',
    reads: false,
    break: dataDir =>
      besides(dataDir, () => {
        mkdirSync(dataDir)
        writeFileSync(file(dataDir), 'This is no database. '.repeat(1000))
      }),
  },
  'tables that are gone': {
    kind: 'damaged',
    reads: false,
    break: dataDir => {
      const other = new DatabaseSync(file(dataDir))
      other.prepare('alter table items rename to lost').run()
      return () => {
        other.prepare('drop table if exists items').run()
        other.prepare('alter table lost rename to items').run()
        other.close()
      }
    },
  },
}
