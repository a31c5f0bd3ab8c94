const NO_BYTES = new Uint8Array(0)
const MIN_CAPACITY = 32_768

/** A byte queue. Bytes are appended at the end and removed from the start. */
export class AudioBuffer {
  private bytes: Uint8Array = NO_BYTES
  private start = 0
  private end = 0

  get length(): number {
    return this.end - this.start
  }

  append(more: Uint8Array): void {
    if (this.end + more.length > this.bytes.length) this.makeRoom(more.length)
    this.bytes.set(more, this.end)
    this.end += more.length
  }

  /** Drops everything except the last `count` bytes. */
  trimToLast(count: number): void {
    this.start = Math.max(this.start, this.end - count)
  }

  /** Returns all bytes and empties the buffer. */
  take(): Uint8Array {
    const head = this.bytes.slice(this.start, this.end)
    this.clear()
    return head
  }

  clear(): void {
    this.bytes = NO_BYTES
    this.start = this.end = 0
  }

  private makeRoom(count: number): void {
    const { length } = this
    const capacity = length + count
    const bytes = capacity <= this.bytes.length / 2 ? this.bytes : new Uint8Array(Math.max(MIN_CAPACITY, 2 * capacity))
    bytes.set(this.bytes.subarray(this.start, this.end))
    this.bytes = bytes
    this.start = 0
    this.end = length
  }
}
