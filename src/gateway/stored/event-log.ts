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
  over = false
  /** True if events are no longer stored, because there are too many or the store fails. */
  lossy = false
  /** Number of stored events. */
  stored = 0
  private readonly format: Pick<StoredFormat, 'numbered'>
  private recent: string[] = []
  private first = 0
  private size = 0
  private waitingSize = 0
  private total = 0
  private wakeup = Promise.withResolvers<void>()

  constructor(format: Pick<StoredFormat, 'numbered'>) {
    this.format = format
  }

  /** Number of events so far. */
  get length(): number {
    return this.first + this.recent.length
  }

  /** True if so many events wait to be stored that the writer must pause. */
  get full(): boolean {
    return !this.lossy && this.waitingSize > PAUSE_SIZE
  }

  /** Appends an event and sets its number. */
  push(data: string): void {
    const text = this.format.numbered(data, this.length)
    this.recent.push(text)
    this.size += text.length
    this.waitingSize += text.length
    this.total += text.length
    this.lossy ||= this.waitingSize > LIMITS.waiting || this.total > LIMITS.stored
    this.trim()
    this.wake()
  }

  /**
   * Returns the events that are not stored yet. The final event is never stored, because it is rebuilt from the stored
   * response.
   */
  pending(): readonly string[] {
    return this.lossy ? [] : this.recent.slice(Math.max(0, this.stored - this.first), this.over ? -1 : undefined)
  }

  /** Marks events as stored. */
  store(texts: readonly string[]): void {
    this.stored += texts.length
    for (const { length } of texts) this.waitingSize -= length
    this.trim()
  }

  private trim(): void {
    while (this.size > CACHE_SIZE && this.recent.length > 1 && (this.lossy || this.first < this.stored)) {
      this.size -= this.recent.shift()!.length
      this.first++
    }
  }

  /** Returns the events from a sequence number onwards. Undefined if the first of them is no longer cached. */
  from(number: number): readonly string[] | undefined {
    return number < this.first ? undefined : this.recent.slice(number - this.first)
  }

  /** Appends the final event. */
  finish(last: string): void {
    this.push(last)
    this.over = true
    this.wake()
  }

  /** Resolves when the event with a sequence number exists, or when no more events follow. */
  until(number: number): Promise<void> {
    return this.length > number || this.over ? Promise.resolve() : this.wakeup.promise
  }

  private wake(): void {
    const { resolve } = this.wakeup
    this.wakeup = Promise.withResolvers()
    resolve()
  }
}
