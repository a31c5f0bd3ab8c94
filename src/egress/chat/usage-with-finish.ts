import type { CanonicalEvent } from '../../canonical/event.ts'
import { append } from '../../canonical/lists.ts'
import type { Loss } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import type { EventWriter } from '../writer.ts'

/**
 * Writes the usage of a stream beside its finish reason, where Mistral has it. Mistral's clients skip chunks without
 * choices, or throw (docs/wire/chat.md#clients-that-read-usage-unasked).
 */
export class UsageWithFinish implements EventWriter {
  private readonly writer: EventWriter
  /** The chunks with finish reasons, held until the usage is known. */
  private finishes: WireEvent[] = []

  constructor(writer: EventWriter) {
    this.writer = writer
  }

  get lost(): readonly Loss[] {
    return this.writer.lost ?? NOTHING
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    const written = this.writer.push(event)
    if (event.type === 'candidate-end') {
      append(this.finishes, written)
      return NOTHING
    }
    return event.type === 'result-end' || event.type === 'error' ? this.release(written) : written
  }

  end(): readonly WireEvent[] {
    return this.release(this.writer.end())
  }

  /** Writes the held chunks, the last with the facts of a closing chunk that has no choices. */
  private release(closing: readonly WireEvent[]): readonly WireEvent[] {
    const held = this.finishes
    this.finishes = []
    const facts = factsOf(closing[0])
    const last = held.at(-1)
    if (facts === undefined || last === undefined) return [...held, ...closing]
    const { choices } = JSON.parse(last.data) as JsonObject
    return [...held.slice(0, -1), { ...last, data: JSON.stringify({ ...facts, choices }) }, ...closing.slice(1)]
  }
}

/** Returns the fields of a chunk that has no choices, or undefined for any other event. */
function factsOf(event: WireEvent | undefined): JsonObject | undefined {
  if (event?.data.startsWith('{') !== true) return undefined
  const chunk = JSON.parse(event.data) as JsonObject
  return Array.isArray(chunk['choices']) && chunk['choices'].length === 0 ? chunk : undefined
}
