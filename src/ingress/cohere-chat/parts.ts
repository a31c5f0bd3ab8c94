import type { Part } from '../../canonical/content.ts'
import type { CanonicalEvent, PartPosition } from '../../canonical/event.ts'
import { openingEvents } from '../../canonical/fold.ts'
import { append as appendAll } from '../../canonical/lists.ts'

/** Starts a part with the body of its first event. */
export const openPart = (part: Part, at: PartPosition, out: CanonicalEvent[]): void =>
  appendAll(out, openingEvents(part, at))

/** An open text or reasoning part of a stream. */
export class TextStream {
  readonly type: Part['type']
  private readonly at: PartPosition

  constructor(type: Part['type'], at: PartPosition) {
    this.type = type
    this.at = at
  }

  append(chunk: string, out: CanonicalEvent[]): void {
    if (chunk !== '' && this.type !== 'opaque') out.push({ type: 'part-delta', at: this.at, append: chunk })
  }

  end(out: CanonicalEvent[]): void {
    out.push({ type: 'part-end', at: this.at })
  }
}

const NULL = 'null'

/**
 * An open tool call of a stream. Its arguments are buffered as long as they could still be `null`, which means no
 * arguments.
 */
export class CallStream {
  private readonly at: PartPosition
  /** Buffered prefix of `null`. Undefined once the arguments differ from `null`. */
  private buffered: string | undefined

  constructor(part: Part, at: PartPosition) {
    this.at = at
    this.buffered = part.type === 'tool-call' && part.arguments !== '' ? undefined : ''
    this.acceptsDeltas = part.type === 'tool-call'
  }

  private readonly acceptsDeltas: boolean

  append(chunk: string, out: CanonicalEvent[]): void {
    if (!this.acceptsDeltas) return
    const text = this.buffered === undefined ? chunk : this.buffered + chunk
    if (this.buffered !== undefined && NULL.startsWith(text)) this.buffered = text
    else {
      this.buffered = undefined
      out.push({ type: 'part-delta', at: this.at, append: text })
    }
  }

  end(out: CanonicalEvent[]): void {
    if (this.buffered !== undefined && this.buffered !== '' && this.buffered !== NULL)
      out.push({ type: 'part-delta', at: this.at, append: this.buffered })
    out.push({ type: 'part-end', at: this.at })
  }
}
