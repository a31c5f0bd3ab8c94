import type { Bytes } from '../canonical/bytes.ts'
import type { Spool } from '../ingress/transport/spool.ts'
import type { PictureLimits } from '../store/shared-records.ts'

/** A stored image. */
export interface StoredImage {
  readonly mediaType: string
  readonly bytes: Bytes & { readonly size: number }
  /** Seconds it will still be there, if nothing pushes it out. */
  readonly seconds: number
}

/** What is known of a picture. */
export interface Picture {
  readonly id: string
  readonly mediaType: string
  /** Unix time in milliseconds. */
  readonly expiresAt: number
}

interface Entry {
  readonly picture: Picture
  readonly bytes: StoredImage['bytes']
  readonly spool: Spool
  readers: number
  gone: boolean
}

/** Copies of pictures in files without a name, until they expire; the oldest are pushed out by what is too much. */
export class PictureCopies {
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
