import type { Part } from '../../canonical/content.ts'
import type { CanonicalEvent, PartPosition } from '../../canonical/event.ts'
import { openingEvents } from '../../canonical/fold.ts'
import { append as appendAll } from '../../canonical/lists.ts'

/** Starts a part, with the body that its first event has. */
export const openPart = (part: Part, at: PartPosition, out: CanonicalEvent[]): void =>
  appendAll(out, openingEvents(part, at))

/** An open text or reasoning of a stream. */
export class TextStream {
  readonly type: Part['type']
  private readonly at: PartPosition

  constructor(type: Part['type'], at: PartPosition) {
    this.type = type
    this.at = at
  }

  grow(append: string, out: CanonicalEvent[]): void {
    if (append !== '' && this.type !== 'opaque') out.push({ type: 'part-delta', at: this.at, append })
  }

  end(out: CanonicalEvent[]): void {
    out.push({ type: 'part-end', at: this.at })
  }
}

const NULL = 'null'

/** An open call of a stream. Its arguments are held back while they may become `null`, which means that there are none. */
export class CallStream {
  private readonly at: PartPosition
  /** The beginning of `null` so far. Undefined once the arguments are others. */
  private held: string | undefined

  constructor(part: Part, at: PartPosition) {
    this.at = at
    this.held = part.type === 'tool-call' && part.arguments !== '' ? undefined : ''
    this.takes = part.type === 'tool-call'
  }

  private readonly takes: boolean

  grow(append: string, out: CanonicalEvent[]): void {
    if (!this.takes) return
    const text = this.held === undefined ? append : this.held + append
    if (this.held !== undefined && NULL.startsWith(text)) this.held = text
    else {
      this.held = undefined
      out.push({ type: 'part-delta', at: this.at, append: text })
    }
  }

  end(out: CanonicalEvent[]): void {
    if (this.held !== undefined && this.held !== '' && this.held !== NULL)
      out.push({ type: 'part-delta', at: this.at, append: this.held })
    out.push({ type: 'part-end', at: this.at })
  }
}
