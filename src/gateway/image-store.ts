import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setImmediate as breath } from 'node:timers/promises'
import type { Bytes } from '../canonical/bytes.ts'
import type { MediaPart } from '../canonical/content.ts'
import { GatewayError } from '../canonical/error.ts'
import { hashOf } from '../config/hash.ts'
import { Spool } from '../ingress/transport/spool.ts'
import type { PictureLimits, SharedRecords, StoredPicture } from '../store/shared-records.ts'

export interface ImageStoreLimits extends PictureLimits {
  /** Milliseconds. */
  readonly age: number
}

const LIMITS: ImageStoreLimits = { count: 256, size: 512 * 1024 * 1024, age: 3_600_000 }

export interface ImageStoreOptions {
  readonly shared: Pick<SharedRecords, 'keepPicture' | 'picture'>
  /** Other processes answer for the same addresses: what cannot be stored must not get one. */
  readonly hasOthers: () => boolean
  readonly limits?: Partial<ImageStoreLimits>
  /** Unix time in milliseconds. */
  readonly now?: () => number
}

/**
 * Pictures whose callers wanted an address: stored for an hour, for every instance to send, the oldest pushed out by what
 * is more than there is room for. The token is all it takes to fetch one; it is stored as a hash, and tokens cannot be
 * listed. Each process has copies of those it made or sent in files without a name.
 */
export class ImageStore {
  private readonly shared: ImageStoreOptions['shared']
  private readonly hasOthers: () => boolean
  private readonly limits: ImageStoreLimits
  private readonly now: () => number
  private readonly copies: PictureCopies
  /** Pictures that are being copied from the store. */
  private readonly copying = new Map<string, Promise<void>>()

  constructor({ shared, hasOthers, limits = {}, now = Date.now }: ImageStoreOptions) {
    this.shared = shared
    this.hasOthers = hasOthers
    this.limits = { ...LIMITS, ...limits }
    this.now = now
    this.copies = new PictureCopies(this.limits, now)
  }

  /**
   * Keeps a picture and gives the token it is fetched by. Rejects where it cannot be kept for all who may be asked for it.
   *
   * @param pieces its bytes, none of which is held for long.
   */
  async keep(mediaType: string, pieces: Iterable<Uint8Array>): Promise<string> {
    const token = randomBytes(32).toString('base64url')
    const id = hashOf(token)
    const expiresAt = this.now() + this.limits.age
    const spool = await Spool.open()
    const bytes = await filled(spool, breathing(pieces))
    const picture = { id, mediaType: isType(mediaType) ? mediaType : UNKNOWN, expiresAt }
    try {
      await this.shared.keepPicture({ ...picture, read: () => bytes.read() }, this.limits)
    } catch (thrown) {
      // The copy is enough where nobody else is asked for it.
      if (this.hasOthers() || !(thrown instanceof GatewayError)) {
        spool.close()
        throw thrown
      }
    }
    this.copies.add(picture, bytes, spool)
    return token
  }

  /**
   * The picture of that token; undefined where its time is over or there never was one.
   *
   * @throws OwnFailure where that cannot be looked up.
   */
  async get(token: string): Promise<StoredImage | undefined> {
    if (!TOKEN.test(token)) return undefined
    const id = hashOf(token)
    const own = this.copies.get(id)
    if (own !== undefined) return own
    const copying = this.copying.get(id) ?? this.copied(id).finally(() => this.copying.delete(id))
    this.copying.set(id, copying)
    await copying
    return this.copies.get(id)
  }

  close(): void {
    this.copies.close()
  }

  /** Copies a picture from the store first, so that what was begun to be sent can be sent to its end. */
  private async copied(id: string): Promise<void> {
    const stored = await this.shared.picture(id)
    if (stored === undefined) return
    const spool = await Spool.open()
    const bytes = await filled(spool, stored.read())
    if (bytes.size === stored.size) this.copies.add(aboutOf(id, stored), bytes, spool)
    else spool.close()
  }
}

const TOKEN = /^[\w-]{43}$/

const UNKNOWN = 'application/octet-stream'
const isType = (mediaType: string): boolean => /^image\/[\w.+-]{1,100}$/.test(mediaType)

const aboutOf = (id: string, { mediaType, expiresAt }: StoredPicture) => ({ id, mediaType, expiresAt })

async function filled(spool: Spool, pieces: AsyncIterable<Uint8Array>): Promise<Bytes & { readonly size: number }> {
  try {
    const bytes = await spool.fill([], pieces)
    return { ...bytes, size: bytes.size! }
  } catch (thrown) {
    spool.close()
    throw thrown
  }
}

async function* breathing(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    yield piece
    await breath()
  }
}

/** The part with what is at its address. Rejects where that cannot be had. */
export type Fetch = (part: MediaPart) => Promise<MediaPart>

/** What images are delivered with. */
export interface ImageDelivery {
  readonly store: ImageStore
  /** The address below which the caller of a request reaches the gateway. */
  baseOf(message: IncomingMessage): string
  /** Fetches the images of one answer; undefined where nothing is fetched. */
  fetching(): Fetch | undefined
}

/** A stored image. */
export interface StoredImage {
  readonly mediaType: string
  readonly bytes: Bytes & { readonly size: number }
  /** Seconds it will still be there, if nothing pushes it out. */
  readonly seconds: number
}

interface Picture extends Pick<StoredPicture, 'mediaType' | 'expiresAt'> {
  readonly id: string
}

interface Entry {
  readonly picture: Picture
  readonly bytes: StoredImage['bytes']
  readonly spool: Spool
  readers: number
  gone: boolean
}

/** Copies of pictures in files without a name, until they expire; the oldest are pushed out by what is too much. */
class PictureCopies {
  private readonly limits: PictureLimits
  private readonly now: () => number
  /** In the order they came. */
  private readonly entries = new Map<string, Entry>()
  private size = 0

  constructor(limits: PictureLimits, now: () => number) {
    this.limits = limits
    this.now = now
  }

  /** Adds a picture; its file is closed when it is pushed out and nobody reads it any more. */
  add(picture: Picture, bytes: StoredImage['bytes'], spool: Spool): void {
    this.entries.set(picture.id, { picture, bytes, spool, readers: 0, gone: false })
    this.size += bytes.size
    this.makeRoom()
  }

  get(id: string): StoredImage | undefined {
    const entry = this.entries.get(id)
    if (entry === undefined) return undefined
    const { mediaType, expiresAt } = entry.picture
    const left = expiresAt - this.now()
    if (left <= 0) {
      this.drop(entry)
      return undefined
    }
    return {
      mediaType,
      bytes: { size: entry.bytes.size, read: () => reading(entry) },
      seconds: Math.floor(left / 1000),
    }
  }

  close(): void {
    for (const entry of [...this.entries.values()]) this.drop(entry)
  }

  private makeRoom(): void {
    const { count, size } = this.limits
    const now = this.now()
    for (const entry of this.entries.values())
      if (entry.picture.expiresAt <= now || this.entries.size > count || this.size > size) this.drop(entry)
  }

  private drop(entry: Entry): void {
    this.entries.delete(entry.picture.id)
    this.size -= entry.bytes.size
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
