import type { CanonicalEvent, PartEnd, PartEvent, ResultStart } from './event.ts'
import type { Loss } from './loss.ts'
import { NOTHING, type Transducer } from './transducer.ts'

/**
 * State of one candidate: the index of its open part, and the buffered events of later parts in the order in which the
 * parts started.
 */
interface CandidateState {
  open: number
  readonly waitingEvents: Map<number, PartEvent[]>
  /**
   * Parts that started while another part was open. The parts from index `nextWaiting` onwards are still waiting. A
   * list, because finding the first key of a map is slow.
   */
  readonly startedParts: number[]
  nextWaiting: number
}

interface Writer<Output> extends Transducer<CanonicalEvent, Output> {
  readonly lost?: readonly Loss[]
}

export interface SequentialOptions {
  /** Returns true if the answer keeps the upstream's order because it is native to the writer's format. */
  readonly isExemptAnswer?: (start: ResultStart) => boolean
  /**
   * True if waiting parts are written even if the answer breaks off before the open part ends. Used for formats in
   * which a part may start before the previous one has ended.
   */
  readonly writesUnfinished?: true
}

/** Value of `open` if no part is open. */
const NO_OPEN_PART = -1

/**
 * Passes the parts of a candidate to a writer one after another, for formats whose items never interleave (trap 96).
 * Events of the open part pass immediately. A part that starts while another is open is buffered until the other has
 * ended. On an error, buffered parts are dropped (trap 88), unless `writesUnfinished` is set.
 */
export class Sequential<Output> implements Transducer<CanonicalEvent, Output> {
  private readonly writer: Writer<Output>
  private readonly options: SequentialOptions
  private readonly candidates: CandidateState[] = []
  private isExempt = false

  constructor(writer: Writer<Output>, options: SequentialOptions = {}) {
    this.writer = writer
    this.options = options
  }

  push(event: CanonicalEvent): readonly Output[] {
    // Fast path: nearly every event appends to the open part.
    if (event.type === 'part-delta' && this.candidates[event.at.candidate]?.open === event.at.part)
      return this.writer.push(event)
    if ('at' in event && !this.isExempt) return this.part(event)
    if (event.type === 'result-start') this.isExempt = this.options.isExemptAnswer?.(event) ?? false
    if (event.type === 'error' && this.options.writesUnfinished)
      return [...this.flushWaiting(), ...this.writer.push(event)]
    return this.writer.push(event)
  }

  /** Losses reported by the writer. */
  get lost(): readonly Loss[] {
    return this.writer.lost ?? NOTHING
  }

  end(): readonly Output[] {
    return this.options.writesUnfinished ? [...this.flushWaiting(), ...this.writer.end()] : this.writer.end()
  }

  /** Writes the parts that are still waiting. */
  private flushWaiting(): readonly Output[] {
    const out: Output[] = []
    for (const { waitingEvents: waiting } of this.candidates) {
      for (const events of waiting.values())
        for (const event of events) for (const written of this.writer.push(event)) out.push(written)
      waiting.clear()
    }
    return out
  }

  private part(event: PartEvent): readonly Output[] {
    const state = this.state(event.at.candidate)
    if (event.at.part === state.open) {
      if (event.type === 'part-end') return this.endPart(state, event)
      return this.writer.push(event)
    }
    const waiting = state.waitingEvents.get(event.at.part)
    if (waiting !== undefined) waiting.push(event)
    else if (event.type === 'part-start' && state.open === NO_OPEN_PART) {
      state.open = event.at.part
      return this.writer.push(event)
    } else if (event.type === 'part-start') {
      state.waitingEvents.set(event.at.part, [event])
      state.startedParts.push(event.at.part)
    } else if (event.type === 'part-patch') return this.writer.push(event)
    return NOTHING
  }

  private state(candidate: number): CandidateState {
    while (this.candidates.length <= candidate)
      this.candidates.push({ open: NO_OPEN_PART, waitingEvents: new Map(), startedParts: [], nextWaiting: 0 })
    return this.candidates[candidate]!
  }

  /** Ends the open part and writes the parts waiting for it, up to the first that has not ended. */
  private endPart(state: CandidateState, end: PartEnd): readonly Output[] {
    state.open = NO_OPEN_PART
    if (state.waitingEvents.size === 0) return this.writer.push(end)
    const out = [...this.writer.push(end)]
    while (state.open === NO_OPEN_PART && state.waitingEvents.size > 0) {
      const part = state.startedParts[state.nextWaiting++]!
      const events = state.waitingEvents.get(part)
      if (events === undefined) continue
      state.waitingEvents.delete(part)
      state.open = part
      for (const event of events) for (const written of this.writer.push(event)) out.push(written)
      if (hasEnd(events)) state.open = NO_OPEN_PART
    }
    return out
  }
}

/** Returns true if the part has ended. Only late annotations follow its end. */
const hasEnd = (events: readonly PartEvent[]): boolean =>
  events.findLast(({ type }) => type !== 'part-patch')?.type === 'part-end'
