import type { WireEvent } from '../../canonical/exchange.ts'
import { EVENT_STREAM } from '../../egress/sse.ts'
import type { Reply } from '../call.ts'
import { caughtUp } from '../caught-up.ts'

/** Characters of events that are held; beyond, the oldest go. */
const MOST = 8 * 1024 * 1024

/** The number every event of a stream ends with. */
const NUMBER = /"sequence_number":\d+\}$/

/** The events of one answer, numbered from 0, for whoever comes to hear them, from wherever. */
export class Tape {
  /** Nothing more will be said. */
  over = false
  private events: WireEvent[] = []
  private first = 0
  private size = 0
  private woken = Promise.withResolvers<void>()

  /** How many events there were. */
  get length(): number {
    return this.first + this.events.length
  }

  push(event: WireEvent): void {
    const data = event.data.replace(NUMBER, `"sequence_number":${this.length}}`)
    this.events.push({ ...event, data })
    this.size += data.length
    while (this.size > MOST && this.events.length > 1) {
      this.size -= this.events.shift()!.data.length
      this.first++
    }
    this.wake()
  }

  finish(): void {
    this.over = true
    this.wake()
  }

  private wake(): void {
    const { resolve } = this.woken
    this.woken = Promise.withResolvers()
    resolve()
  }

  /** The texts of all events; undefined where the first of them are gone. */
  get texts(): readonly string[] | undefined {
    return this.first === 0 ? this.events.map(({ data }) => data) : undefined
  }

  /**
   * Tells the events after the number to a caller, as they come, until the last or until the caller leaves; one that
   * is slow to take them holds up nobody else, and is gone when it takes nothing for too long.
   */
  async play(reply: Reply, after: number, heartbeat: number): Promise<void> {
    reply.begin({ 'content-type': EVENT_STREAM.contentType, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
    let next = Math.max(after + 1, this.first)
    while (!reply.gone) {
      const { promise } = this.woken
      const fresh = this.events.slice(Math.max(next, this.first) - this.first)
      next = this.length
      const text = fresh.map((event, index) => EVENT_STREAM.frame(event, index === 0)).join('')
      if (this.over) {
        reply.end(text)
        return
      }
      if (text !== '' && !reply.write(text)) await caughtUp(reply, heartbeat)
      else if (text === '') await more(promise, reply, heartbeat)
    }
  }
}

/** Waits for more to be said or for the caller to leave, and shows the caller meanwhile that the stream lives. */
async function more(said: Promise<void>, reply: Reply, heartbeat: number): Promise<void> {
  const gone = Promise.withResolvers<void>()
  reply.worker = { abort: () => gone.resolve() }
  const timer = setTimeout(() => {
    reply.write(EVENT_STREAM.sign)
    gone.resolve()
  }, heartbeat)
  await Promise.race([said, gone.promise])
  clearTimeout(timer)
}

/** The events of an answer that is over: those that were kept, and the last. */
export function tapeOf(texts: readonly string[], last: WireEvent): Tape {
  const tape = new Tape()
  for (const data of texts) tape.push(eventOf(data))
  tape.push(last)
  tape.finish()
  return tape
}

const eventOf = (data: string): WireEvent => {
  const event = /^\{"type":"([a-z_.]+)"/.exec(data)?.[1]
  return event === undefined ? { data } : { event, data }
}
