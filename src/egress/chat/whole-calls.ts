import type { ToolCallPart } from '../../canonical/content.ts'
import type { CanonicalEvent, PartEnd, PartPosition, PartStart } from '../../canonical/event.ts'
import { patched } from '../../canonical/fold.ts'
import type { Loss } from '../../canonical/loss.ts'
import { NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import type { EventWriter, NativeEventWriter } from '../writer.ts'

/** A call that has not ended. */
interface HeldCall {
  readonly at: PartPosition
  part: ToolCallPart
  readonly texts: string[]
}

/**
 * Writes each call of a stream in one chunk, for clients that take every piece of a call for a whole one
 * (docs/wire/chat.md#clients-that-take-whole-calls). A call that breaks off is not written.
 */
export class WholeCalls implements NativeEventWriter {
  private readonly writer: EventWriter
  private readonly heldCalls = new Map<string, HeldCall>()

  constructor(writer: EventWriter) {
    this.writer = writer
  }

  get lost(): readonly Loss[] {
    return this.writer.lost ?? NOTHING
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (event.type === 'part-start' && event.part.type === 'tool-call') {
      this.heldCalls.set(keyOf(event.at), { at: event.at, part: event.part, texts: [] })
      return NOTHING
    }
    const held = 'at' in event ? this.heldCalls.get(keyOf(event.at)) : undefined
    if (held === undefined) return this.writer.push(event)
    if (event.type === 'part-delta') held.texts.push(event.append)
    if (event.type === 'part-patch') held.part = patched(held.part, event, true) as ToolCallPart
    return event.type === 'part-end' ? this.release(held, event) : NOTHING
  }

  /** Writes the events anew, because chunks of the upstream may hold pieces of calls. */
  relay(_: WireEvent, read: readonly CanonicalEvent[]): readonly WireEvent[] {
    return read.flatMap(event => this.push(event))
  }

  end(): readonly WireEvent[] {
    return this.writer.end()
  }

  private release({ at, part, texts }: HeldCall, end: PartEnd): readonly WireEvent[] {
    this.heldCalls.delete(keyOf(at))
    const text = part.arguments + texts.join('')
    const start: PartStart = {
      type: 'part-start',
      at,
      part: { ...part, arguments: text || (part.freeform ? '' : '{}') },
    }
    return [...this.writer.push(start), ...this.writer.push(end)]
  }
}

const keyOf = ({ candidate, part }: PartPosition): string => `${candidate}/${part}`
