import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Liveness, PROCESS_ID } from './liveness.ts'

/**
 * Minimum age at which a dead process's file is deleted, in milliseconds. A newer file may belong to a process that has
 * not locked it yet.
 */
const MIN_AGE_MS = 60_000

/** SQLITE_BUSY: another connection holds the lock. */
const BUSY = 5

/**
 * Detects which processes that share a folder are alive. Each process locks a file with its id. The operating system
 * releases the lock however the process ends, even with `kill -9`. Locks also work between containers on one machine,
 * where process ids are meaningless.
 */
export class LockedFiles implements Liveness {
  readonly id: string = randomBytes(16).toString('hex')
  private readonly folder: string
  private readonly earlierFolder: string
  private lock: DatabaseSync | undefined

  /**
   * @param folder the same for all processes that share a store.
   * @param earlierFolder folder of processes of an earlier version.
   */
  constructor(folder: string, earlierFolder = folder) {
    this.folder = folder
    this.earlierFolder = earlierFolder
  }

  async open(): Promise<void> {
    if (this.lock !== undefined) return
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    this.deleteStale()
    const path = this.path(this.id)
    const lock = new DatabaseSync(path)
    chmodSync(path, 0o600)
    for (const line of ['pragma journal_mode = memory', 'begin exclusive']) lock.exec(line)
    this.lock = lock
  }

  async isAlive(id: string): Promise<boolean | undefined> {
    if (id === this.id) return this.lock !== undefined
    if (!PROCESS_ID.test(id)) return undefined
    const path = [this.path(id), join(this.earlierFolder, id)].find(one => existsSync(one))
    return path === undefined ? false : isLocked(path)
  }

  async close(): Promise<void> {
    this.lock?.close()
    if (this.lock !== undefined) rmSync(this.path(this.id), { force: true })
    this.lock = undefined
  }

  private path(id: string): string {
    return join(this.folder, id)
  }

  /** Deletes the files of dead processes. */
  private deleteStale(): void {
    for (const name of readdirSync(this.folder)) {
      const path = this.path(name)
      const modifiedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs
      if (!PROCESS_ID.test(name) || modifiedAt === undefined || Date.now() - modifiedAt < MIN_AGE_MS) continue
      if (isLocked(path) === false) rmSync(path, { force: true })
    }
  }
}

/** Returns true if a process holds the lock of the file, or undefined if that cannot be determined. */
function isLocked(path: string): boolean | undefined {
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    file.prepare('select count(*) from sqlite_master').get()
    return false
  } catch (thrown) {
    return (thrown as { errcode?: unknown }).errcode === BUSY ? true : undefined
  } finally {
    file?.close()
  }
}
