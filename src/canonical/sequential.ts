import type { CanonicalEvent, PartEnd, PartEvent, ResultStart } from './event.ts'
import type { Loss } from './loss.ts'
import { NOTHING, type Transducer } from './transducer.ts'

/** The parts of one candidate: the open one, and the events of parts after it, by part, in the order they started. */
interface Line {
  open: number
  readonly waiting: Map<number, PartEvent[]>
  /**
   * The parts that started while another was open; those from `next` on still wait. A list, as finding the first key of
   * a map is slow.
   */
  readonly started: number[]
  next: number
}

interface Writer<Output> extends Transducer<CanonicalEvent, Output> {
  readonly lost?: readonly Loss[]
}

export interface SequentialOptions {
  /** Answers whose order is the upstream's own, in the writer's own format. */
  readonly exempt?: (start: ResultStart) => boolean
  /**
   * Where an answer breaks off, parts that waited for one that never ended are written after all: in the format they
   * need no end of the part before them.
   */
  readonly overtakes?: true
}

/** No part is open. */
const NONE = -1

/**
 * Feeds a writer the parts of a candidate one after another, for formats whose items never interleave (trap 96): a part
 * that starts while another is open waits until that one has ended. Events of the open part pass straight through.
 * Parts that still wait when an error comes are not written (trap 88), unless they may overtake. Buffers only the events
 * of waiting parts.
 */
export class Sequential<Output> implements Transducer<CanonicalEvent, Output> {
  private readonly writer: Writer<Output>
  private readonly options: SequentialOptions
  private readonly lines: Line[] = []
  private direct = false

  constructor(writer: Writer<Output>, options: SequentialOptions = {}) {
    this.writer = writer
    this.options = options
  }

  push(event: CanonicalEvent): readonly Output[] {
    // Nearly every event adds to the open part.
    if (event.type === 'part-delta' && this.lines[event.at.candidate]?.open === event.at.part)
      return this.writer.push(event)
    if ('at' in event && !this.direct) return this.part(event)
    if (event.type === 'result-start') this.direct = this.options.exempt?.(event) ?? false
    if (event.type === 'error' && this.options.overtakes) return [...this.rest(), ...this.writer.push(event)]
    return this.writer.push(event)
  }

  /** What the writer lost of the answer. */
  get lost(): readonly Loss[] {
    return this.writer.lost ?? NOTHING
  }

  end(): readonly Output[] {
    return this.options.overtakes ? [...this.rest(), ...this.writer.end()] : this.writer.end()
  }

  /** The parts that still wait. */
  private rest(): readonly Output[] {
    const out: Output[] = []
    for (const { waiting } of this.lines) {
      for (const events of waiting.values())
        for (const event of events) for (const written of this.writer.push(event)) out.push(written)
      waiting.clear()
    }
    return out
  }

  private part(event: PartEvent): readonly Output[] {
    const line = this.line(event.at.candidate)
    if (event.at.part === line.open) {
      if (event.type === 'part-end') return this.leave(line, event)
      return this.writer.push(event)
    }
    const waiting = line.waiting.get(event.at.part)
    if (waiting !== undefined) waiting.push(event)
    else if (event.type === 'part-start' && line.open === NONE) {
      line.open = event.at.part
      return this.writer.push(event)
    } else if (event.type === 'part-start') {
      line.waiting.set(event.at.part, [event])
      line.started.push(event.at.part)
    } else if (event.type === 'part-patch') return this.writer.push(event)
    return NOTHING
  }

  private line(candidate: number): Line {
    while (this.lines.length <= candidate) this.lines.push({ open: NONE, waiting: new Map(), started: [], next: 0 })
    return this.lines[candidate]!
  }

  /** Closes the open part and writes the parts that waited for it, up to one that has not ended. */
  private leave(line: Line, end: PartEnd): readonly Output[] {
    line.open = NONE
    if (line.waiting.size === 0) return this.writer.push(end)
    const out = [...this.writer.push(end)]
    while (line.open === NONE && line.waiting.size > 0) {
      const part = line.started[line.next++]!
      const events = line.waiting.get(part)
      if (events === undefined) continue
      line.waiting.delete(part)
      line.open = part
      for (const event of events) for (const written of this.writer.push(event)) out.push(written)
      if (hasEnd(events)) line.open = NONE
    }
    return out
  }
}

/** Whether the part has ended; only late annotations come behind its end. */
const hasEnd = (events: readonly PartEvent[]): boolean =>
  events.findLast(({ type }) => type !== 'part-patch')?.type === 'part-end'
