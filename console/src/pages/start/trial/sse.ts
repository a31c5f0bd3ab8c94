/** One server-sent event as received. */
export interface RawEvent {
  /** Text of the event without the blank line after it. */
  readonly raw: string
  /** Joined `data` lines. Undefined without any. */
  readonly data: string | undefined
}

const END = /\r\n\r\n|\n\n|\r\r/

/** Splits chunks of text into server-sent events and buffers the incomplete last one. */
export class EventSplitter {
  private waiting = ''

  push(piece: string): RawEvent[] {
    const parts = (this.waiting + piece).split(END)
    this.waiting = parts.pop()!
    return parts.filter(raw => raw !== '').map(eventOf)
  }

  /** Flushes the incomplete last event. */
  end(): RawEvent[] {
    const raw = this.waiting.trimEnd()
    this.waiting = ''
    return raw === '' ? [] : [eventOf(raw)]
  }
}

function eventOf(raw: string): RawEvent {
  const lines = raw.split(/\r\n|\n|\r/).filter(line => line.startsWith('data:'))
  const data = lines.map(line => line.slice(5).replace(/^ /, '')).join('\n')
  return { raw, data: lines.length === 0 ? undefined : data }
}
