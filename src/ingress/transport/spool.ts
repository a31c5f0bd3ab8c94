import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bytes } from '../../canonical/bytes.ts'

/** Number of bytes that are read at once. */
const CHUNK_BYTES = 256 * 1024

/** An unlinked temporary file. Other processes cannot open it, and it vanishes when the process ends. */
export class Spool {
  private readonly file: FileHandle
  private readers = 0
  private closed = false
  private fileClosed = false

  private constructor(file: FileHandle) {
    this.file = file
  }

  /** Creates the file. Rejects with the file system's error. */
  static async open(): Promise<Spool> {
    const path = join(tmpdir(), `interlingua-${randomUUID()}`)
    const file = await open(path, 'wx+', 0o600)
    const spool = new Spool(file)
    try {
      await unlink(path)
    } catch (thrown) {
      spool.close()
      throw thrown
    }
    return spool
  }

  /**
   * Writes the buffered chunks and the rest of the stream to the file. Calls `count` before each chunk. The result can
   * be read any number of times.
   */
  async fill(
    chunks: readonly Uint8Array[],
    rest: AsyncIterable<Uint8Array>,
    count: (bytes: number) => void = () => {},
  ): Promise<Bytes> {
    let size = 0
    const write = async (chunk: Uint8Array): Promise<void> => {
      count(chunk.length)
      for (let written = 0; written < chunk.length; )
        written += (await this.file.write(chunk, written, chunk.length - written, size + written)).bytesWritten
      size += chunk.length
    }
    for (const chunk of chunks) await write(chunk)
    for await (const chunk of rest) await write(chunk)
    return { size, read: () => this.read() }
  }

  /** Closes the file. Its disk space is freed once all readers have finished. */
  close(): void {
    this.closed = true
    this.closeUnused()
  }

  private closeUnused(): void {
    if (!this.closed || this.readers > 0 || this.fileClosed) return
    this.fileClosed = true
    this.file.close().catch(() => {})
  }

  /** Streams the file. A stream of Node would close the file for all readers if one of them stops early. */
  private async *read(): AsyncGenerator<Uint8Array> {
    this.readers++
    try {
      for (let position = 0; ; ) {
        const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
        const { bytesRead } = await this.file.read(chunk, 0, CHUNK_BYTES, position)
        if (bytesRead === 0) return
        position += bytesRead
        yield chunk.subarray(0, bytesRead)
      }
    } finally {
      this.readers--
      this.closeUnused()
    }
  }
}
