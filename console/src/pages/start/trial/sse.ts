/** One event of a stream as it came. */
export interface RawEvent {
  /** Its bytes, without the blank line behind it. */
  readonly raw: string
  /** Its `data` lines joined; undefined where it has none. */
  readonly data: string | undefined
}

const END = /\r\n\r\n|\n\n|\r\r/

/** Splits a text that comes in pieces into events; what is not ended yet waits. */
export class EventSplitter {
  private waiting = ''

  push(piece: string): RawEvent[] {
    const parts = (this.waiting + piece).split(END)
    this.waiting = parts.pop()!
    return parts.filter(raw => raw !== '').map(eventOf)
  }

  /** What was left without an end. */
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
