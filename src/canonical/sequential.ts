import type { CanonicalEvent, PartEnd, PartEvent, ResultStart } from './event.ts'
import type { Loss } from './loss.ts'
import { NOTHING, type Transducer } from './transducer.ts'

/**
 * State of one candidate: the index of its open part, and the buffered events of later parts in the order in which the
 * parts started.
 */
interface CandidateState {
  open: number
  readonly waiting: Map<number, PartEvent[]>
  /**
   * Parts that started while another part was open. The parts from index `next` onwards are still waiting. A list,
   * because finding the first key of a map is slow.
   */
  readonly started: number[]
  next: number
}

interface Writer<Output> extends Transducer<CanonicalEvent, Output> {
  readonly lost?: readonly Loss[]
}

export interface SequentialOptions {
  /** Returns true if the answer keeps the upstream's order because it is native to the writer's format. */
  readonly exempt?: (start: ResultStart) => boolean
  /**
   * True if waiting parts are written even if the answer breaks off before the open part ends. For formats in which a
   * part may start before the previous one has ended.
   */
  readonly overtakes?: true
}

/** Value of `open` if no part is open. */
const NONE = -1

/**
 * Passes the parts of a candidate to a writer one after another, for formats whose items never interleave (trap 96).
 * Events of the open part pass immediately. A part that starts while another is open is buffered until the other has
 * ended. On an error, buffered parts are dropped (trap 88), unless `overtakes` is set.
 */
export class Sequential<Output> implements Transducer<CanonicalEvent, Output> {
  private readonly writer: Writer<Output>
  private readonly options: SequentialOptions
  private readonly lines: CandidateState[] = []
  private isExempt = false

  constructor(writer: Writer<Output>, options: SequentialOptions = {}) {
    this.writer = writer
    this.options = options
  }

  push(event: CanonicalEvent): readonly Output[] {
    // Fast path: nearly every event appends to the open part.
    if (event.type === 'part-delta' && this.lines[event.at.candidate]?.open === event.at.part)
      return this.writer.push(event)
    if ('at' in event && !this.isExempt) return this.part(event)
    if (event.type === 'result-start') this.isExempt = this.options.exempt?.(event) ?? false
    if (event.type === 'error' && this.options.overtakes) return [...this.flushWaiting(), ...this.writer.push(event)]
    return this.writer.push(event)
  }

  /** Losses reported by the writer. */
  get lost(): readonly Loss[] {
    return this.writer.lost ?? NOTHING
  }

  end(): readonly Output[] {
    return this.options.overtakes ? [...this.flushWaiting(), ...this.writer.end()] : this.writer.end()
  }

  /** Writes the parts that are still waiting. */
  private flushWaiting(): readonly Output[] {
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
      if (event.type === 'part-end') return this.endPart(line, event)
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

  private line(candidate: number): CandidateState {
    while (this.lines.length <= candidate) this.lines.push({ open: NONE, waiting: new Map(), started: [], next: 0 })
    return this.lines[candidate]!
  }

  /** Ends the open part and writes the parts waiting for it, up to the first that has not ended. */
  private endPart(line: CandidateState, end: PartEnd): readonly Output[] {
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

/** Returns true if the part has ended. Only late annotations follow its end. */
const hasEnd = (events: readonly PartEvent[]): boolean =>
  events.findLast(({ type }) => type !== 'part-patch')?.type === 'part-end'
