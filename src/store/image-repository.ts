import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { lock } from './locks.ts'
import type { ImageLimits, ImageRecord, NewImageRecord } from './shared-records.ts'
import type { Database } from './tables.ts'

/** Size of the chunk of an image that one row holds, in bytes. */
const CHUNK_BYTES = 256 * 1024
/** Images deleted per statement. */
const IMAGES_PER_DELETE = 50
/** Expired images deleted per statement. They have megabytes, and the event loop runs in between. */
const IMAGES_PER_SWEEP = 4

/** The repository of generated images, stored in rows of limited size. */
export class ImageRepository {
  private readonly database: Database
  private readonly now: () => number

  constructor(database: Database, now: () => number) {
    this.database = database
    this.now = now
  }

  async put({ id, mediaType, expiresAt, read }: NewImageRecord, limits: ImageLimits): Promise<void> {
    await this.database
      .insertInto('pictures')
      .values({ id, media_type: mediaType, size: 0, place: 0, expires_at: expiresAt })
      .execute()
    try {
      await this.finish(id, await this.write(id, read()), limits)
    } catch (thrown) {
      await drop(this.database, [id]).catch(() => {})
      throw thrown
    }
  }

  async find(id: string): Promise<ImageRecord | undefined> {
    const row = await this.database
      .selectFrom('pictures')
      .select(['media_type', 'size', 'expires_at'])
      .where('id', '=', id)
      .where('place', '>', 0)
      .where('expires_at', '>', this.now())
      .executeTakeFirst()
    if (row === undefined) return undefined
    return {
      mediaType: row.media_type,
      size: Number(row.size),
      expiresAt: Number(row.expires_at),
      read: () => this.read(id),
    }
  }

  /** Deletes images that expired before a time, including unfinished ones of processes that died. */
  async sweep(before: number): Promise<void> {
    for (;;) {
      const rows = await this.database
        .selectFrom('pictures')
        .select('id')
        .where('expires_at', '<=', before)
        .limit(IMAGES_PER_SWEEP)
        .execute()
      if (rows.length === 0) return
      await drop(
        this.database,
        rows.map(({ id }) => id),
      )
      await yieldToEventLoop()
    }
  }

  /**
   * Writes the bytes of an image.
   *
   * @returns the number of bytes.
   */
  private async write(image: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    let size = 0
    let number = 0
    for await (const chunk of chunks)
      for (let from = 0; from < chunk.length; from += CHUNK_BYTES) {
        const bytes = chunk.subarray(from, from + CHUNK_BYTES)
        await this.database.insertInto('picture_bytes').values({ picture: image, number, bytes }).execute()
        number++
        size += bytes.length
      }
    return size
  }

  /** Makes an image visible to lookups, and deletes the oldest images beyond the limits. */
  private async finish(id: string, size: number, { count, size: most }: ImageLimits): Promise<void> {
    await this.database.transaction().execute(async transaction => {
      const position = await lock(transaction, 'pictures')
      await transaction.updateTable('pictures').set({ size, place: position }).where('id', '=', id).execute()
      const rows = await transaction
        .selectFrom('pictures')
        .select(['id', 'size'])
        .where('place', '>', 0)
        .orderBy('place', 'desc')
        .execute()
      let remaining = most
      const firstEvicted = rows.findIndex((row, index) => {
        remaining -= Number(row.size)
        return index >= count || remaining < 0
      })
      if (firstEvicted >= 0)
        await drop(
          transaction,
          rows.slice(firstEvicted).map(row => row.id),
        )
    })
  }

  private async *read(image: string): AsyncGenerator<Uint8Array> {
    for (let number = 0; ; number++) {
      const row = await this.database
        .selectFrom('picture_bytes')
        .select('bytes')
        .where('picture', '=', image)
        .where('number', '=', number)
        .executeTakeFirst()
      if (row === undefined) return
      yield row.bytes
    }
  }
}

async function drop(database: Database, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += IMAGES_PER_DELETE) {
    const batch = ids.slice(from, from + IMAGES_PER_DELETE)
    await database.deleteFrom('picture_bytes').where('picture', 'in', batch).execute()
    await database.deleteFrom('pictures').where('id', 'in', batch).execute()
  }
}
