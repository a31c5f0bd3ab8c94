import { createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Bytes } from '../../canonical/bytes.ts'
import { GatewayError, tooLarge } from '../../canonical/error.ts'
import { sniffed } from '../../canonical/media/sniff.ts'
import type { StoredTask, Tasks } from '../../store/tasks.ts'
import { type Headers, single } from '../../upstreams/channel/index.ts'
import { GONE_THERE, type OpenedFile, type openUpstream } from './content.ts'
import { rangeOf } from './range.ts'

/** Tasks that are looked at in one go, and failures after which a video is left to its upstream. */
const BATCH = 256
const ATTEMPTS = 8
/** Milliseconds a download may take, however slowly it flows. */
const PATIENCE = 30 * 60_000
/** Bytes of a file by which it is known. */
const HEAD = 16
/** Milliseconds after which a file without a task is an orphan: the task of a younger one may not be stored yet. */
const SETTLED = 10 * 60_000

export interface KeptFilesOptions {
  readonly store: () => Tasks
  readonly now: () => number
  /** Milliseconds between two looks at what has finished. */
  readonly poll: () => number
  /** Milliseconds for which finished videos are kept, 0 for none, and bytes of all of them. */
  readonly limits: () => { readonly keep: number; readonly limit: number }
  /** Where they are kept. */
  readonly folder: () => string
  /** This process among those that share the folder, and whether another is alive. */
  readonly worker: () => Promise<string>
  isAlive(worker: string): Promise<boolean | undefined>
  /** A finished video at its upstream; undefined where that is not configured any more. */
  open(task: StoredTask): ReturnType<typeof openUpstream> | undefined
  onFault(task: StoredTask, thrown: unknown): void
}

/** How much room is left for files, and which are kept, the oldest first. */
interface Shelf {
  room: number
  readonly kept: StoredTask[]
}

/**
 * Finished videos on disk, so that they outlive the addresses of their upstreams. Instances may share the folder; one with
 * a folder of its own leaves the upstream what is in no file of it, and never touches what others keep.
 */
export class KeptFiles {
  private readonly options: KeptFilesOptions
  /** How often a video could not be had, and when it is tried again. */
  private readonly failures = new Map<string, { readonly count: number; readonly next: number }>()
  private readonly opened = new Set<OpenedFile>()
  private hasTidiedParts = false
  private isClosed = false

  constructor(options: KeptFilesOptions) {
    this.options = options
  }

  /** The kept video of a task, whole or the part a request asks for; undefined where it is not there. */
  async open(task: StoredTask, requested: Headers): Promise<OpenedFile | undefined> {
    if (isGivenUp(task)) return undefined
    const file = await open(this.path(task.id)).catch(() => undefined)
    if (file === undefined) return undefined
    const head = Buffer.alloc(HEAD)
    await file.read(head, 0, HEAD, 0)
    const { size } = await file.stat()
    const etag = `"${task.id}"`
    const condition = single(requested['if-range'])
    const range = condition === '' || condition === etag ? rangeOf(single(requested['range']), size) : undefined
    const shared = { mediaType: sniffed(head) ?? 'video/mp4', close: () => void file.close().catch(() => {}) }
    const headers = { 'accept-ranges': 'bytes', etag }
    if (range === 'none')
      return { ...shared, status: 416, headers: { ...headers, 'content-range': `bytes */${size}` }, bytes: NOTHING }
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

  /** Deletes what is too old or too much, and keeps what has finished since. */
  async tend(): Promise<void> {
    const { store, now, limits } = this.options
    const { keep, limit } = limits()
    const names = new Set(await readdir(this.options.folder()).catch(() => []))
    const files = await store().withFiles()
    await this.tidy(names, files)
    const shelf: Shelf = { room: limit, kept: [] }
    for (const task of files) {
      if (!names.has(task.id)) continue
      if (task.createdAt < now() - keep) await this.remove(task)
      else {
        shelf.room -= task.fileSize!
        shelf.kept.push(task)
      }
    }
    await this.makeRoom(shelf, 0)
    if (keep === 0) return
    const unkept = await store().unkept(now() - keep, BATCH)
    const due = unkept.filter(({ id }) => (this.failures.get(id)?.next ?? 0) <= now())
    const byChannel = Map.groupBy(due, ({ channel }) => channel)
    await Promise.all(byChannel.values().map(tasks => this.keepAll(tasks, shelf)))
  }

  /** Deletes the video of a task that is gone, if it was kept here. */
  async discard({ id }: StoredTask): Promise<void> {
    await rm(this.path(id), { force: true })
  }

  /** Ends the downloads that are on their way. */
  close(): void {
    this.isClosed = true
    for (const file of this.opened) file.close()
  }

  /** Deletes files whose task is gone or does not keep them any more, and once what processes that were killed began. */
  private async tidy(names: ReadonlySet<string>, files: readonly StoredTask[]): Promise<void> {
    const known = new Set(files.map(({ id }) => id))
    for (const name of names) {
      if (known.has(name)) continue
      const [, worker] = PART.exec(name) ?? []
      const isLeft =
        worker === undefined
          ? await this.isSettled(name)
          : !this.hasTidiedParts && (await this.options.isAlive(worker)) === false
      if (isLeft) await rm(this.path(name), { force: true })
    }
    this.hasTidiedParts = true
  }

  /** Deletes the kept video of a task. */
  private async remove(task: StoredTask): Promise<void> {
    await this.discard(task)
    await this.options.store().keepFile(task.owner, task.id, undefined)
  }

  private async isSettled(name: string): Promise<boolean> {
    const { mtimeMs } = (await stat(this.path(name)).catch(() => undefined)) ?? { mtimeMs: Date.now() }
    return Date.now() - mtimeMs > SETTLED
  }

  /** One after the other, until the disk takes no more. */
  private async keepAll(tasks: readonly StoredTask[], shelf: Shelf): Promise<void> {
    for (const task of tasks) {
      if (this.isClosed) return
      try {
        await this.keep(task, shelf)
        this.failures.delete(task.id)
      } catch (thrown) {
        if (this.isClosed) return
        this.options.onFault(task, thrown)
        // A fault of the disk is no fault of the video: all wait for the next look.
        if (!(thrown instanceof GatewayError)) return
        await this.failed(task, thrown)
      }
    }
  }

  private async keep(task: StoredTask, shelf: Shelf): Promise<void> {
    const part = `${this.path(task.id)}.${await this.options.worker()}.part`
    const file = await this.options.open(task)
    if (file === undefined) throw GONE_THERE
    this.opened.add(file)
    const late = setTimeout(() => file.close(), PATIENCE)
    let size = 0
    try {
      if (file.status !== 200) throw NO_WHOLE
      await mkdir(this.options.folder(), { recursive: true, mode: 0o700 })
      const counted = async function* (this: KeptFiles): AsyncGenerator<Uint8Array> {
        for await (const chunk of file.bytes.read()) {
          await this.makeRoom(shelf, chunk.length)
          shelf.room -= chunk.length
          size += chunk.length
          yield chunk
        }
      }
      await pipeline(counted.call(this), createWriteStream(part, { mode: 0o600, flush: true }))
      if (size === 0) throw NO_WHOLE
      await rename(part, this.path(task.id))
      shelf.kept.push({ ...task, fileSize: size })
      // Deleted meanwhile.
      if (!(await this.options.store().keepFile(task.owner, task.id, size)))
        await rm(this.path(task.id), { force: true })
    } catch (thrown) {
      shelf.room += size
      await rm(part, { force: true })
      throw thrown
    } finally {
      clearTimeout(late)
      this.opened.delete(file)
      file.close()
    }
  }

  /** Deletes the oldest files until there is room; they are not kept again. Throws GatewayError `too-large`. */
  private async makeRoom(shelf: Shelf, bytes: number): Promise<void> {
    while (shelf.room < bytes) {
      const oldest = shelf.kept.shift()
      if (oldest === undefined) throw TOO_LARGE
      shelf.room += oldest.fileSize!
      await rm(this.path(oldest.id), { force: true })
      await this.options.store().keepFile(oldest.owner, oldest.id, 0)
    }
  }

  private async failed(task: StoredTask, thrown: GatewayError): Promise<void> {
    const count = (this.failures.get(task.id)?.count ?? 0) + 1
    const isFinal = thrown === GONE_THERE || thrown === TOO_LARGE || count >= ATTEMPTS
    if (isFinal) await this.giveUp(task)
    else this.failures.set(task.id, { count, next: this.options.now() + this.options.poll() * 2 ** count })
  }

  /** The video stays where its upstream has it, unless another instance could keep it. */
  private async giveUp({ owner, id }: StoredTask): Promise<void> {
    this.failures.delete(id)
    await this.options.store().leaveFile(owner, id)
  }

  private path(name: string): string {
    return join(this.options.folder(), name)
  }
}

/** A file that is still written: the task, and the process that writes it. */
const PART = /\.([0-9a-f]{32})\.part$/

/** Whether the video is not kept: not yet, or never. */
const isGivenUp = ({ fileSize = 0 }: StoredTask): boolean => fileSize === 0

const NO_WHOLE = new GatewayError({ kind: 'upstream-failed', message: 'The upstream did not send the whole video.' })
const TOO_LARGE = tooLarge('The video is larger than all that is kept.')

const NOTHING: Bytes = { size: 0, read: async function* () {} }
