import { createWriteStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Bytes } from '../../canonical/bytes.ts'
import { GatewayError, tooLarge } from '../../canonical/error.ts'
import { sniffMediaType } from '../../canonical/media/sniff.ts'
import type { StoredTask, Tasks } from '../../store/tasks.ts'
import { type Headers, headerValue } from '../../upstreams/channel/index.ts'
import { type OpenedFile, type openUpstream, VIDEO_GONE } from './content.ts'
import { rangeOf } from './range.ts'

/** Maximum number of tasks of a channel examined per pass, beside those whose download failed. */
const BATCH_SIZE = 256
/** Number of failed downloads after which a video is left at its upstream. */
const MAX_ATTEMPTS = 8
/** Time after which a pass begins no further download, so that videos of other channels have their turn, in milliseconds. */
const MAX_PASS_MS = 60_000
/** Maximum duration of a download, in milliseconds. */
const DOWNLOAD_TIMEOUT = 30 * 60_000
/** Number of bytes at the start of a file from which its type is detected. */
const HEAD_BYTES = 16
/**
 * Age at which a file without a task counts as an orphan, in milliseconds. The task of a younger file may not be stored
 * yet.
 */
const ORPHAN_AGE = 10 * 60_000

export interface StoredFilesOptions {
  readonly store: () => Tasks
  readonly now: () => number
  /** Returns the time before which expired videos may be deleted, because a clock may be ahead for a moment. */
  readonly deletionTime: () => number
  /** Returns the interval between two passes over finished tasks, in milliseconds. */
  readonly poll: () => number
  /**
   * Returns the time for which finished videos are stored, in milliseconds (0: not at all), and their maximum total
   * size, in bytes.
   */
  readonly limits: () => { readonly retention: number; readonly limit: number }
  /** Returns the folder of the stored videos. */
  readonly folder: () => string
  /** Returns the id of this process, unique among the processes that share the folder. */
  readonly worker: () => Promise<string>
  isAlive(worker: string): Promise<boolean | undefined>
  /** Opens a finished video at its upstream. Returns undefined if the upstream is no longer configured. */
  open(task: StoredTask): ReturnType<typeof openUpstream> | undefined
  onFault(task: StoredTask, thrown: unknown): void
}

/** Number of bytes available for files, and the tasks with stored files, oldest first. */
interface DiskSpace {
  free: number
  readonly stored: StoredTask[]
}

/**
 * Stores finished videos on disk, so that they outlive their upstreams' URLs. Several instances may share the folder.
 * An instance with a separate folder serves videos that it lacks from the upstream, and does not touch other instances'
 * files.
 */
export class StoredFiles {
  private readonly options: StoredFilesOptions
  /** Number of failed downloads and time of the next attempt, by task id. */
  private readonly failures = new Map<string, { readonly count: number; readonly next: number }>()
  private readonly downloads = new Set<OpenedFile>()
  private hasTidiedParts = false
  private isClosed = false

  constructor(options: StoredFilesOptions) {
    this.options = options
  }

  /** Opens a task's stored video, whole or in the requested range. Returns undefined if it is not stored here. */
  async open(task: StoredTask, requested: Headers): Promise<OpenedFile | undefined> {
    if (hasNoFile(task)) return undefined
    const file = await open(this.path(task.id)).catch(() => undefined)
    if (file === undefined) return undefined
    try {
      return await this.openedFile(file, task, requested)
    } catch (thrown) {
      await file.close()
      throw thrown
    }
  }

  private async openedFile(file: FileHandle, task: StoredTask, requested: Headers): Promise<OpenedFile> {
    const head = Buffer.alloc(HEAD_BYTES)
    await file.read(head, 0, HEAD_BYTES, 0)
    const { size } = await file.stat()
    const etag = `"${task.id}"`
    const condition = headerValue(requested['if-range'])
    const range = condition === '' || condition === etag ? rangeOf(headerValue(requested['range']), size) : undefined
    const shared = { mediaType: sniffMediaType(head) ?? 'video/mp4', close: () => void file.close().catch(() => {}) }
    const headers = { 'accept-ranges': 'bytes', etag }
    if (range === 'none')
      return { ...shared, status: 416, headers: { ...headers, 'content-range': `bytes */${size}` }, bytes: NO_BYTES }
    const { first, last } = range ?? { first: 0, last: size - 1 }
    const bytes: Bytes = {
      size: last - first + 1,
      once: true,
      read: () => file.createReadStream({ start: first, end: last }),
    }
    return range === undefined
      ? { ...shared, status: 200, headers, bytes }
      : { ...shared, status: 206, headers: { ...headers, 'content-range': `bytes ${first}-${last}/${size}` }, bytes }
  }

  /** Deletes expired files and files beyond the limit, then downloads newly finished videos. */
  async maintain(): Promise<void> {
    const { store, now, deletionTime, limits } = this.options
    const { retention, limit } = limits()
    const names = new Set(await readdir(this.options.folder()).catch(() => []))
    const files = await store().withFiles()
    await this.deleteOrphans(names, files)
    const space: DiskSpace = { free: limit, stored: [] }
    for (const task of files) {
      if (!names.has(task.id)) continue
      if (task.createdAt < deletionTime() - retention) await this.remove(task)
      else {
        space.free -= task.fileSize!
        space.stored.push(task)
      }
    }
    await this.makeRoom(space, 0)
    if (retention === 0) return
    const unstored = await store().withoutVideo(now() - retention, BATCH_SIZE + this.failures.size)
    const due = unstored.filter(({ id }) => (this.failures.get(id)?.next ?? 0) <= now())
    const byChannel = Map.groupBy(due, ({ channel }) => channel)
    await Promise.all(byChannel.values().map(tasks => this.downloadAll(tasks, space)))
  }

  /** Deletes the file of a dropped task, if it is stored here. */
  async discard({ id }: StoredTask): Promise<void> {
    await rm(this.path(id), { force: true })
  }

  /** Aborts all downloads in progress. */
  close(): void {
    this.isClosed = true
    for (const file of this.downloads) file.close()
  }

  /**
   * Deletes files whose task is gone or no longer refers to them. Until it is known once which processes are alive, also
   * deletes partial downloads of dead ones.
   */
  private async deleteOrphans(names: ReadonlySet<string>, files: readonly StoredTask[]): Promise<void> {
    const known = new Set(files.map(({ id }) => id))
    let isUnknown = false
    for (const name of names) {
      if (known.has(name)) continue
      const [, worker] = PARTIAL_FILE.exec(name) ?? []
      if (worker !== undefined && this.hasTidiedParts) continue
      const isAlive = worker === undefined ? !(await this.isSettled(name)) : await this.options.isAlive(worker)
      isUnknown ||= isAlive === undefined
      if (isAlive === false) await rm(this.path(name), { force: true })
    }
    this.hasTidiedParts ||= !isUnknown
  }

  /** Deletes a task's stored video and clears its size in the store. */
  private async remove(task: StoredTask): Promise<void> {
    await this.discard(task)
    await this.options.store().setFileSize(task.owner, task.id, undefined)
  }

  private async isSettled(name: string): Promise<boolean> {
    const { mtimeMs } = (await stat(this.path(name)).catch(() => undefined)) ?? { mtimeMs: Date.now() }
    return Date.now() - mtimeMs > ORPHAN_AGE
  }

  /** Downloads the videos one after another until the pass is over. Stops if the disk fails. */
  private async downloadAll(tasks: readonly StoredTask[], space: DiskSpace): Promise<void> {
    const end = performance.now() + MAX_PASS_MS
    for (const task of tasks) {
      if (this.isClosed || performance.now() > end) return
      try {
        await this.download(task, space)
        this.failures.delete(task.id)
      } catch (thrown) {
        if (this.isClosed) return
        this.options.onFault(task, thrown)
        // A disk error would affect every video, so the rest waits for the next pass.
        if (!(thrown instanceof GatewayError)) return
        await this.recordFailure(task, thrown)
      }
    }
  }

  private async download(task: StoredTask, space: DiskSpace): Promise<void> {
    const part = `${this.path(task.id)}.${await this.options.worker()}.part`
    const file = await this.options.open(task)
    if (file === undefined) throw VIDEO_GONE
    this.downloads.add(file)
    const timer = setTimeout(() => file.close(), DOWNLOAD_TIMEOUT)
    let size = 0
    try {
      if (this.isClosed || file.status !== 200) throw INCOMPLETE
      await mkdir(this.options.folder(), { recursive: true, mode: 0o700 })
      const countedChunks = async function* (this: StoredFiles): AsyncGenerator<Uint8Array> {
        for await (const chunk of file.bytes.read()) {
          await this.makeRoom(space, chunk.length)
          space.free -= chunk.length
          size += chunk.length
          yield chunk
        }
      }
      await pipeline(countedChunks.call(this), createWriteStream(part, { mode: 0o600, flush: true }))
      if (size === 0) throw INCOMPLETE
      await rename(part, this.path(task.id))
      if (await this.record(task, size)) space.stored.push({ ...task, fileSize: size })
      else space.free += size
    } catch (thrown) {
      space.free += size
      await rm(part, { force: true })
      throw thrown
    } finally {
      clearTimeout(timer)
      this.downloads.delete(file)
      file.close()
    }
  }

  /**
   * Records the size of a file in the store. Deletes the file if its task was deleted during the download (returns
   * false) or the store fails (rejects), so that the file takes up no space.
   */
  private async record(task: StoredTask, fileSize: number): Promise<boolean> {
    let isRecorded = false
    try {
      isRecorded = await this.options.store().setFileSize(task.owner, task.id, fileSize)
    } finally {
      if (!isRecorded) await this.discard(task)
    }
    return isRecorded
  }

  /**
   * Deletes the oldest files until enough bytes are free. Deleted videos are not downloaded again. Throws GatewayError
   * `too-large` if no files are left to delete.
   */
  private async makeRoom(space: DiskSpace, bytes: number): Promise<void> {
    while (space.free < bytes) {
      const oldest = space.stored.shift()
      if (oldest === undefined) throw TOO_LARGE
      space.free += oldest.fileSize!
      await rm(this.path(oldest.id), { force: true })
      await this.options.store().setFileSize(oldest.owner, oldest.id, 0)
    }
  }

  private async recordFailure(task: StoredTask, thrown: GatewayError): Promise<void> {
    const count = (this.failures.get(task.id)?.count ?? 0) + 1
    const isFinal = thrown === TOO_LARGE || count >= MAX_ATTEMPTS
    if (isFinal) await this.giveUp(task)
    else this.failures.set(task.id, { count, next: this.options.now() + this.options.poll() * 2 ** count })
  }

  /** Gives up on a download. The video remains at its upstream, and another instance may still store it. */
  private async giveUp({ owner, id }: StoredTask): Promise<void> {
    this.failures.delete(id)
    await this.options.store().skipFile(owner, id)
  }

  private path(name: string): string {
    return join(this.options.folder(), name)
  }
}

/** Matches a partial download: the task's id, then the id of the writing process. */
const PARTIAL_FILE = /\.([0-9a-f]{32})\.part$/

/** Returns true if the video has no stored file, either not yet or permanently. */
const hasNoFile = ({ fileSize = 0 }: StoredTask): boolean => fileSize === 0

const INCOMPLETE = new GatewayError({ kind: 'upstream-failed', message: 'The upstream did not send the whole video.' })
const TOO_LARGE = tooLarge('The video is larger than the limit for stored videos.')

const NO_BYTES: Bytes = { size: 0, read: async function* () {} }
