/** Characters of events held for those who listen, once they are in the store. */
const NEAR = 1024 * 1024

/** Characters of events that wait for the store, beyond which no more is taken until it has them. */
const HIGH = 1024 * 1024

/** Characters of events that may wait for the store, and that it keeps of one response. */
const MOST = { waiting: 8 * 1024 * 1024, kept: 64 * 1024 * 1024 } as const

/** The number every event of a stream ends with. */
const NUMBER = /"sequence_number":\d+\}$/

/**
 * The events of one answer in the making, numbered from 0. The store has them all; the latest are held here, for those
 * who listen and until they are stored.
 */
export class EventLog {
  /** No more events will come. */
  over = false
  /** Events are lost: there are too many to keep, or the store does not take them. */
  lossy = false
  /** How many events the store has. */
  stored = 0
  private recent: string[] = []
  private first = 0
  private size = 0
  private waitingSize = 0
  private total = 0
  private woken = Promise.withResolvers<void>()

  /** How many events there were. */
  get length(): number {
    return this.first + this.recent.length
  }

  /** Much waits for the store. */
  get full(): boolean {
    return !this.lossy && this.waitingSize > HIGH
  }

  /** Takes the text of the next event, and gives it its number. */
  push(data: string): void {
    const text = data.replace(NUMBER, `"sequence_number":${this.length}}`)
    this.recent.push(text)
    this.size += text.length
    this.waitingSize += text.length
    this.total += text.length
    this.lossy ||= this.waitingSize > MOST.waiting || this.total > MOST.kept
    this.trim()
    this.wake()
  }

  /** The texts the store does not have yet; the last of all is made of the response that is kept. */
  pending(): readonly string[] {
    return this.lossy ? [] : this.recent.slice(Math.max(0, this.stored - this.first), this.over ? -1 : undefined)
  }

  /** The store has these, too. */
  store(texts: readonly string[]): void {
    this.stored += texts.length
    for (const { length } of texts) this.waitingSize -= length
    this.trim()
  }

  private trim(): void {
    while (this.size > NEAR && this.recent.length > 1 && (this.lossy || this.first < this.stored)) {
      this.size -= this.recent.shift()!.length
      this.first++
    }
  }

  /** The events from that number on; undefined where the first of them are not held any more. */
  from(number: number): readonly string[] | undefined {
    return number < this.first ? undefined : this.recent.slice(number - this.first)
  }

  /** Takes the text of the last event. */
  finish(last: string): void {
    this.push(last)
    this.over = true
    this.wake()
  }

  /** Settles when there is an event of that number, or there will be none. */
  until(number: number): Promise<void> {
    return this.length > number || this.over ? Promise.resolve() : this.woken.promise
  }

  private wake(): void {
    const { resolve } = this.woken
    this.woken = Promise.withResolvers()
    resolve()
  }
}
