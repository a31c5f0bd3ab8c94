import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setImmediate as breath } from 'node:timers/promises'
import type { Bytes } from '../canonical/bytes.ts'
import type { MediaPart } from '../canonical/content.ts'
import { GatewayError } from '../canonical/error.ts'
import { hashOf } from '../config/hash.ts'
import { Spool } from '../ingress/transport/spool.ts'
import { storeFault, UNAVAILABLE } from '../store/fault.ts'
import type { ImageLimits, ImageRecord, SharedRecords } from '../store/shared-records.ts'

/** Maximum number, total size and age of stored images. */
export interface ImageStoreLimits extends ImageLimits {
  /** Retention time of an image, in milliseconds. */
  readonly age: number
}

const DEFAULT_LIMITS: ImageStoreLimits = { count: 256, size: 512 * 1024 * 1024, age: 3_600_000 }

/** Options of `ImageStore`. */
export interface ImageStoreOptions {
  readonly shared: Pick<SharedRecords, 'putImage' | 'image'>
  /** Returns true if other processes serve the same URLs. A copy in this process is then not enough. */
  readonly hasOthers: () => boolean
  readonly limits?: Partial<ImageStoreLimits>
  /** Returns the Unix time in milliseconds. */
  readonly now?: () => number
}

/**
 * Stores images for callers that requested URLs. The images stay in the shared store for one hour, so that every
 * instance can serve them. Beyond the limits, the oldest images are evicted. The token in the URL is the only
 * credential: the store holds only its hash, and tokens cannot be listed. Each process also copies the images that it
 * stored or served to unnamed temporary files.
 */
export class ImageStore {
  private readonly shared: ImageStoreOptions['shared']
  private readonly hasOthers: () => boolean
  private readonly limits: ImageStoreLimits
  private readonly now: () => number
  private readonly copies: ImageCopies
  /** Downloads from the store in progress, by image id. */
  private readonly copiesInProgress = new Map<string, Promise<void>>()

  constructor({ shared, hasOthers, limits = {}, now = Date.now }: ImageStoreOptions) {
    this.shared = shared
    this.hasOthers = hasOthers
    this.limits = { ...DEFAULT_LIMITS, ...limits }
    this.now = now
    this.copies = new ImageCopies(this.limits, now)
  }

  /**
   * Stores an image and returns its token. Rejects if the image cannot be shared with other processes that serve its
   * URL.
   *
   * @param chunks the bytes. Each chunk is released once it is written.
   */
  async add(mediaType: string, chunks: Iterable<Uint8Array>): Promise<string> {
    const token = randomBytes(32).toString('base64url')
    const id = hashOf(token)
    const expiresAt = this.now() + this.limits.age
    const spool = await Spool.open()
    const bytes = await fillSpool(spool, withPauses(chunks))
    const image = { id, mediaType: isImageType(mediaType) ? mediaType : UNKNOWN_TYPE, expiresAt }
    try {
      await this.shared.putImage({ ...image, read: () => bytes.read() }, this.limits)
    } catch (thrown) {
      // The local copy is enough if no other process serves the URL.
      if (this.hasOthers() || !(thrown instanceof GatewayError)) {
        spool.close()
        throw thrown
      }
    }
    this.copies.add(image, bytes, spool)
    return token
  }

  /**
   * Returns the image with this token, or undefined if it has expired or never existed.
   *
   * @throws GatewayFailure if the store cannot be read.
   */
  async get(token: string): Promise<StoredImage | undefined> {
    if (!TOKEN_PATTERN.test(token)) return undefined
    const id = hashOf(token)
    const local = this.copies.get(id)
    if (local !== undefined) return local
    const copying =
      this.copiesInProgress.get(id) ??
      this.copyFromStore(id)
        .catch(throwUnavailable)
        .finally(() => this.copiesInProgress.delete(id))
    this.copiesInProgress.set(id, copying)
    await copying
    return this.copies.get(id)
  }

  close(): void {
    this.copies.close()
  }

  /**
   * Copies an image from the store to a temporary file, so that a download in progress can finish even if the store
   * evicts the image.
   */
  private async copyFromStore(id: string): Promise<void> {
    const stored = await this.shared.image(id)
    if (stored === undefined) return
    const spool = await Spool.open()
    const fileBytes = await fillSpool(spool, stored.read())
    if (fileBytes.size === stored.size) this.copies.add(headOf(id, stored), fileBytes, spool)
    else spool.close()
  }
}

/** Replaces a fault of the disk by an error for callers, who may try again. */
const throwUnavailable = (thrown: unknown): never => {
  throw thrown instanceof GatewayError || storeFault(thrown) === undefined ? thrown : UNAVAILABLE
}

const TOKEN_PATTERN = /^[\w-]{43}$/

const UNKNOWN_TYPE = 'application/octet-stream'
const isImageType = (mediaType: string): boolean => /^image\/[\w.+-]{1,100}$/.test(mediaType)

const headOf = (id: string, { mediaType, expiresAt }: ImageRecord) => ({ id, mediaType, expiresAt })

async function fillSpool(spool: Spool, chunks: AsyncIterable<Uint8Array>): Promise<Bytes & { readonly size: number }> {
  try {
    const bytes = await spool.fill([], chunks)
    return { ...bytes, size: bytes.size! }
  } catch (thrown) {
    spool.close()
    throw thrown
  }
}

async function* withPauses(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    yield chunk
    await breath()
  }
}

/** Fetches the URL of a media part and returns the part with the bytes in base64. Rejects if the fetch fails. */
export type Fetch = (part: MediaPart) => Promise<MediaPart>

/** Services that deliver images: the store, the gateway's public URL and the fetcher. */
export interface ImageDelivery {
  readonly store: ImageStore
  /** Returns the base URL at which the caller of a request reaches the gateway. */
  baseOf(message: IncomingMessage): string
  /** Returns a fetcher for the images of one answer, or undefined if fetching is switched off. */
  fetching(): Fetch | undefined
}

/** A stored image, ready to be sent. */
export interface StoredImage {
  readonly mediaType: string
  readonly bytes: Bytes & { readonly size: number }
  /** Number of seconds until the image expires, unless it is evicted earlier. */
  readonly seconds: number
}

interface StoredImageHead extends Pick<ImageRecord, 'mediaType' | 'expiresAt'> {
  readonly id: string
}

interface Entry {
  readonly image: StoredImageHead
  readonly bytes: StoredImage['bytes']
  readonly spool: Spool
  readers: number
  isEvicted: boolean
}

/** Copies of images in unnamed temporary files, until they expire. Beyond the limits, the oldest are evicted. */
class ImageCopies {
  private readonly limits: ImageStoreLimits
  private readonly now: () => number
  /** Entries by image id, oldest first. */
  private readonly entries = new Map<string, Entry>()
  private size = 0

  constructor(limits: ImageStoreLimits, now: () => number) {
    this.limits = limits
    this.now = now
  }

  /** Adds an image. Its file is closed when the image has been evicted and its last reader has finished. */
  add(image: StoredImageHead, bytes: StoredImage['bytes'], spool: Spool): void {
    this.entries.set(image.id, { image, bytes, spool, readers: 0, isEvicted: false })
    this.size += bytes.size
    this.evict()
  }

  get(id: string): StoredImage | undefined {
    const entry = this.entries.get(id)
    if (entry === undefined) return undefined
    const { mediaType, expiresAt } = entry.image
    const remaining = expiresAt - this.now()
    if (remaining <= 0) {
      this.drop(entry)
      return undefined
    }
    return {
      mediaType,
      bytes: { size: entry.bytes.size, read: () => readEntry(entry) },
      // A longer time means that the clock was set back.
      seconds: Math.floor(Math.min(remaining, this.limits.age) / 1000),
    }
  }

  close(): void {
    for (const entry of [...this.entries.values()]) this.drop(entry)
  }

  private evict(): void {
    const { count, size } = this.limits
    const now = this.now()
    for (const entry of this.entries.values())
      if (entry.image.expiresAt <= now || this.entries.size > count || this.size > size) this.drop(entry)
  }

  private drop(entry: Entry): void {
    this.entries.delete(entry.image.id)
    this.size -= entry.bytes.size
    entry.isEvicted = true
    if (entry.readers === 0) entry.spool.close()
  }
}

/** Streams the image. An image that is evicted in the meantime can still be read to the end. */
async function* readEntry(entry: Entry): AsyncGenerator<Uint8Array> {
  entry.readers++
  try {
    yield* entry.bytes.read()
  } finally {
    entry.readers--
    if (entry.isEvicted && entry.readers === 0) entry.spool.close()
  }
}
