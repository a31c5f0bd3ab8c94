import type { StoredFormat } from './stored-format.ts'

/** Number of characters of stored events that are cached for readers. */
const CACHE_SIZE = 1024 * 1024

/** Number of characters waiting to be stored at which the writer pauses. */
const PAUSE_SIZE = 1024 * 1024

/** Maximum number of characters of events that wait to be stored, and of all stored events, per response. */
const LIMITS = { waiting: 8 * 1024 * 1024, stored: 64 * 1024 * 1024 } as const

/**
 * The events of an answer in progress, numbered from 0. All events are stored. Recent events, and events not stored
 * yet, are cached for readers.
 */
export class EventLog {
  /** True if no more events follow. */
  isOver = false
  /** True if events are no longer stored, because there are too many or the store fails. */
  isLossy = false
  /** Number of stored events. */
  stored = 0
  private readonly format: Pick<StoredFormat, 'withNumber'>
  private cached: string[] = []
  private firstIndex = 0
  private cachedSize = 0
  private waitingSize = 0
  private totalSize = 0
  private wakeup = Promise.withResolvers<void>()

  constructor(format: Pick<StoredFormat, 'withNumber'>) {
    this.format = format
  }

  /** Number of events so far. */
  get length(): number {
    return this.firstIndex + this.cached.length
  }

  /** True if so many events wait to be stored that the writer must pause. */
  get isFull(): boolean {
    return !this.isLossy && this.waitingSize > PAUSE_SIZE
  }

  /** Appends an event and sets its number. */
  push(data: string): void {
    const text = this.format.withNumber(data, this.length)
    this.cached.push(text)
    this.cachedSize += text.length
    this.waitingSize += text.length
    this.totalSize += text.length
    this.isLossy ||= this.waitingSize > LIMITS.waiting || this.totalSize > LIMITS.stored
    this.trim()
    this.wake()
  }

  /**
   * Returns the events that are not stored yet. The final event is never stored, because it is rebuilt from the stored
   * response.
   */
  pending(): readonly string[] {
    return this.isLossy
      ? []
      : this.cached.slice(Math.max(0, this.stored - this.firstIndex), this.isOver ? -1 : undefined)
  }

  /** Marks events as stored. */
  store(texts: readonly string[]): void {
    this.stored += texts.length
    for (const { length } of texts) this.waitingSize -= length
    this.trim()
  }

  private trim(): void {
    while (this.cachedSize > CACHE_SIZE && this.cached.length > 1 && (this.isLossy || this.firstIndex < this.stored)) {
      this.cachedSize -= this.cached.shift()!.length
      this.firstIndex++
    }
  }

  /** Returns the events from a sequence number onwards, or undefined if the first of them is no longer cached. */
  from(number: number): readonly string[] | undefined {
    return number < this.firstIndex ? undefined : this.cached.slice(number - this.firstIndex)
  }

  /** Appends the final event. */
  finish(last: string): void {
    this.push(last)
    this.isOver = true
    this.wake()
  }

  /** Resolves when the event with a sequence number exists, or when no more events follow. */
  until(number: number): Promise<void> {
    return this.length > number || this.isOver ? Promise.resolve() : this.wakeup.promise
  }

  private wake(): void {
    const { resolve } = this.wakeup
    this.wakeup = Promise.withResolvers()
    resolve()
  }
}
