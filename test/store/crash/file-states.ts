import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync, StatementSync } from 'node:sqlite'

/** The files of a SQLite database between two statements, as a killed process leaves them. */
export interface FileState {
  readonly database: Buffer
  readonly log: Buffer
  /** Number of operations that were acknowledged before. */
  readonly acknowledged: number
  /** What is on the disk for certain, because SQLite has waited for it. */
  readonly synced: Synced
}

/** The part of a database that a power loss leaves. */
interface Synced {
  /** Number of bytes of the log. */
  readonly log: number
  /** Number of operations that were begun. */
  readonly operations: number
}

const NOTHING: Synced = { log: 0, operations: 0 }

/** Suffix of the write-ahead log. */
const LOG = '-wal'
/** Place of the salts in its header. They change when the log begins anew, after all of it is in the database. */
const SALTS = [16, 24] as const

const contentOf = (path: string): Buffer => (existsSync(path) ? readFileSync(path) : Buffer.alloc(0))

/** Writes a state as the files of a database. */
export function restore(path: string, { database, log }: Pick<FileState, 'database' | 'log'>): void {
  writeFileSync(path, database)
  writeFileSync(`${path}${LOG}`, log)
}

/** Methods that run a statement. */
const RUNS = ['run', 'all', 'get'] as const

/** `pragma synchronous`: from this level on, a commit waits until the log is on the disk (sqlite.org/pragma.html#pragma_synchronous). */
const FULL = 2

/** Records the files of a database before and after each statement, as often as they differ. */
export class FileStates {
  readonly states: FileState[] = []
  acknowledged = 0
  private readonly path: string
  private readonly restored: (() => void)[] = []
  private connection: DatabaseSync | undefined
  private synced = NOTHING
  private isRecording = false

  /** Watches the next connection that opens. */
  constructor(path: string) {
    this.path = path
    const owner = this
    for (const name of RUNS)
      this.watch(StatementSync.prototype, name, function (this: StatementSync) {
        if (this.sourceSQL === 'commit') owner.committed()
        owner.record()
      })
    this.watch(DatabaseSync.prototype, 'exec', function (this: DatabaseSync) {
      owner.connection ??= this
    })
  }

  /** Begins to record. From now on, the log goes into the database whenever it has this many pages. */
  begin(pages: number): void {
    this.connection!.exec(`pragma wal_autocheckpoint = ${pages}`)
    this.isRecording = true
    this.record()
  }

  /** Calls a function before and after each call of a method. */
  private watch<T extends object>(prototype: T, name: keyof T, watcher: (this: never) => void): void {
    const original = prototype[name]
    const call = original as (...given: unknown[]) => unknown
    prototype[name] = function (this: never, ...given: unknown[]): unknown {
      const done = call.apply(this, given)
      watcher.call(this)
      return done
    } as T[keyof T]
    this.restored.push(() => {
      prototype[name] = original
    })
  }

  private committed(): void {
    if (!this.isRecording) return
    this.isRecording = false
    const { synchronous } = this.connection!.prepare('pragma synchronous').get() as { readonly synchronous: number }
    this.isRecording = true
    const log = contentOf(`${this.path}${LOG}`)
    if (synchronous >= FULL) this.synced = { log: log.length, operations: this.acknowledged + 1 }
  }

  private record(): void {
    if (!this.isRecording) return
    const { acknowledged } = this
    const last = this.states.at(-1)
    const [database, log] = [contentOf(this.path), contentOf(`${this.path}${LOG}`)]
    const isNewLog = last !== undefined && !last.log.subarray(...SALTS).equals(log.subarray(...SALTS))
    // What a log has of which another begins anew is in the database, and on the disk.
    if (isNewLog && this.synced === last.synced) this.synced = { log: 0, operations: last.acknowledged }
    if (last?.acknowledged === acknowledged && last.database.equals(database) && last.log.equals(log)) return
    this.states.push({ database, log, acknowledged, synced: this.synced })
  }

  /** Watches no more. */
  end(): void {
    for (const restore of this.restored.splice(0)) restore()
  }
}

/** Sizes of the headers of a write-ahead log and of each of its frames, in bytes (sqlite.org/fileformat2.html#walformat). */
const [LOG_HEADER, FRAME_HEADER] = [32, 24]

/** Returns the offsets in a log behind its header and each of its frames, and 0. */
export function frameEnds({ log }: FileState): readonly number[] {
  if (log.length < LOG_HEADER) return [0]
  const frame = FRAME_HEADER + log.readUInt32BE(8)
  const count = Math.floor((log.length - LOG_HEADER) / frame)
  return [0, ...Array.from({ length: count + 1 }, (_, index) => LOG_HEADER + index * frame)]
}
