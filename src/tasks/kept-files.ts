import { createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Bytes } from '../canonical/bytes.ts'
import { sniffed } from '../canonical/media/sniff.ts'
import { type Headers, single } from '../channel/index.ts'
import type { StoredTask, Tasks } from '../store/tasks.ts'
import type { OpenedFile, openUpstream } from './content.ts'
import { rangeOf } from './range.ts'

/** Videos that are kept in one go, and failures after which a video is left to its upstream. */
const AT_ONCE = 4
const ATTEMPTS = 5
/** Bytes of a file by which it is known. */
const HEAD = 16

export interface KeptFilesOptions {
  readonly store: () => Tasks
  readonly now: () => number
  /** Milliseconds for which finished videos are kept, 0 for none, and bytes of all of them. */
  readonly limits: () => { readonly keep: number; readonly limit: number }
  /** Where they are kept. */
  readonly folder: () => string
  /** A finished video at its upstream; undefined where that is not configured any more. */
  open(task: StoredTask): ReturnType<typeof openUpstream> | undefined
  onFault(task: StoredTask, thrown: unknown): void
}

/** Finished videos on disk, so that they outlive the addresses of their upstreams. */
export class KeptFiles {
  private readonly options: KeptFilesOptions
  /** How often a video could not be had. */
  private readonly failures = new Map<string, number>()

  constructor(options: KeptFilesOptions) {
    this.options = options
  }

  /** The kept video of a task, whole or the part a request asks for; undefined where it is not there. */
  async open(task: StoredTask, asked: Headers): Promise<OpenedFile | undefined> {
    if (task.fileSize === undefined) return undefined
    const file = await open(this.path(task.id)).catch(() => undefined)
    if (file === undefined) return undefined
    const head = Buffer.alloc(HEAD)
    await file.read(head, 0, HEAD, 0)
    const { size } = await file.stat()
    const etag = `"${task.id}"`
    const condition = single(asked['if-range'])
    const range = condition === '' || condition === etag ? rangeOf(single(asked['range']), size) : undefined
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
    const kept = await store().withFiles()
    let room = limit - kept.reduce((sum, { fileSize = 0 }) => sum + fileSize, 0)
    for (const task of kept)
      if (task.createdAt < now() - keep || room < 0) {
        room += task.fileSize!
        await this.remove(task)
      }
    if (keep === 0) return
    for (const task of await store().unkept(now() - keep, AT_ONCE * ATTEMPTS)) {
      if (room <= 0) break
      if ((this.failures.get(task.id) ?? 0) < ATTEMPTS) room -= await this.keep(task, room)
    }
  }

  /** Deletes the kept video of a task. */
  async remove({ owner, id }: StoredTask): Promise<void> {
    await rm(this.path(id), { force: true })
    await this.options.store().keepFile(owner, id, undefined)
  }

  /** Bytes of the video that was kept, 0 where it could not be. */
  private async keep(task: StoredTask, room: number): Promise<number> {
    const part = `${this.path(task.id)}.part`
    try {
      const file = await this.options.open(task)
      if (file === undefined) return 0
      await mkdir(this.options.folder(), { recursive: true, mode: 0o700 })
      let size = 0
      const counted = async function* (): AsyncGenerator<Uint8Array> {
        for await (const chunk of file.bytes.read()) {
          size += chunk.length
          if (size > room) throw new Error('there is no room for this video')
          yield chunk
        }
      }
      await pipeline(counted, createWriteStream(part, { mode: 0o600, flush: true }))
      await rename(part, this.path(task.id))
      await this.options.store().keepFile(task.owner, task.id, size)
      this.failures.delete(task.id)
      return size
    } catch (thrown) {
      await rm(part, { force: true })
      this.failures.set(task.id, (this.failures.get(task.id) ?? 0) + 1)
      this.options.onFault(task, thrown)
      return 0
    }
  }

  private path(id: string): string {
    return join(this.options.folder(), id)
  }
}

const NOTHING: Bytes = { size: 0, read: async function* () {} }
