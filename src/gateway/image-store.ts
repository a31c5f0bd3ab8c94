import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Bytes } from '../canonical/bytes.ts'
import type { MediaPart } from '../canonical/content.ts'
import { Spool } from '../ingress/transport/spool.ts'

/** A stored image. */
export interface StoredImage {
  readonly mediaType: string
  readonly bytes: Bytes & { readonly size: number }
  /** Seconds it will still be there, if nothing pushes it out. */
  readonly seconds: number
}

interface Entry {
  readonly mediaType: string
  readonly bytes: Bytes
  readonly spool: Spool
  readonly until: number
  readers: number
  gone: boolean
}

export interface ImageStoreLimits {
  readonly count: number
  /** Bytes of all of them. */
  readonly size: number
  /** Milliseconds. */
  readonly age: number
}

const LIMITS: ImageStoreLimits = { count: 256, size: 512 * 1024 * 1024, age: 3_600_000 }

/**
 * Pictures whose callers wanted an address: kept for an hour in files without a name, the oldest pushed out by what is
 * more than there is room for. The token is all it takes to fetch one, and tokens cannot be listed.
 */
export class ImageStore {
  private readonly limits: ImageStoreLimits
  private readonly now: () => number
  /** In the order they came. */
  private readonly entries = new Map<string, Entry>()
  private size = 0

  constructor(limits: Partial<ImageStoreLimits> = {}, now: () => number = Date.now) {
    this.limits = { ...LIMITS, ...limits }
    this.now = now
  }

  /** Keeps a picture and gives the token it is fetched by. */
  async keep(mediaType: string, data: Uint8Array): Promise<string> {
    const spool = await Spool.open()
    const bytes = await spool.fill([data], NOTHING_MORE)
    const token = randomBytes(32).toString('base64url')
    this.entries.set(token, {
      mediaType,
      bytes,
      spool,
      until: this.now() + this.limits.age,
      readers: 0,
      gone: false,
    })
    this.size += data.length
    this.makeRoom()
    return token
  }

  /** The picture of that token, unless its time is over. */
  get(token: string): StoredImage | undefined {
    this.makeRoom()
    const entry = this.entries.get(token)
    if (entry === undefined) return undefined
    const { mediaType, bytes, until } = entry
    return {
      mediaType,
      bytes: { size: bytes.size!, read: () => reading(entry) },
      seconds: Math.max(0, Math.floor((until - this.now()) / 1000)),
    }
  }

  close(): void {
    for (const token of [...this.entries.keys()]) this.drop(token)
  }

  private makeRoom(): void {
    const { count, size } = this.limits
    for (const [token, { until }] of this.entries) {
      if (until > this.now() && this.entries.size <= count && this.size <= size) return
      this.drop(token)
    }
  }

  private drop(token: string): void {
    const entry = this.entries.get(token)!
    this.entries.delete(token)
    this.size -= entry.bytes.size!
    entry.gone = true
    if (entry.readers === 0) entry.spool.close()
  }
}

/** An image that is pushed out while it is read can be read to its end. */
async function* reading(entry: Entry): AsyncGenerator<Uint8Array> {
  entry.readers++
  try {
    yield* entry.bytes.read()
  } finally {
    entry.readers--
    if (entry.gone && entry.readers === 0) entry.spool.close()
  }
}

const NOTHING_MORE: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} }

/** What images are delivered with. */
export interface ImageDelivery {
  readonly store: ImageStore
  /** The address below which the caller of a request reaches the gateway. */
  baseOf(message: IncomingMessage): string
  /** The part with the image that is at its address; undefined where nothing is fetched. Rejects where that fails. */
  fetch(part: MediaPart): Promise<MediaPart> | undefined
}
