import type { CanonicalEvent } from '../../canonical/event.ts'
import { Sequential } from '../../canonical/sequential.ts'
import { NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { isFollowed, isUnfinished, isWanted, RelayedHeads } from '../relayed-chunks.ts'
import type { NativeEventWriter } from '../writer.ts'
import { type ChatChunks, DONE } from './events.ts'

/**
 * Relays the chunks of an upstream of this format. Changes only the id, model and time. The chunk writer follows the
 * stream, so that it can take over and write later events.
 */
export class RelayedChunks extends Sequential<WireEvent> implements NativeEventWriter {
  private readonly chunks: ChatChunks
  private readonly heads = new RelayedHeads()
  /** Indexes of parts whose start was relayed, by candidate. Such parts may interleave. */
  private readonly startedParts: Set<number>[] = []

  constructor(chunks: ChatChunks) {
    super(chunks, { writesUnfinished: true })
    this.chunks = chunks
  }

  override push(event: CanonicalEvent): readonly WireEvent[] {
    const isStarted = 'at' in event && this.startedParts[event.at.candidate]?.has(event.at.part) === true
    return isStarted ? this.chunks.push(event) : super.push(event)
  }

  relay(wire: WireEvent, read: readonly CanonicalEvent[]): readonly WireEvent[] {
    const { data } = wire
    const [first] = read
    if (read.length === 1 && first!.type === 'part-delta' && isUnfinished(data)) this.chunks.recordDelta(first!)
    else {
      if (first?.type === 'result-start') this.heads.start(first)
      for (const event of read) this.follow(event)
      if (data === DONE.data) return [wire]
      if (this.heads.hasStarted && !isWanted(data, read, this.chunks)) return NOTHING
    }
    return this.heads.rewritten(wire)
  }

  /**
   * Updates the writer's state with an event of a relayed chunk and discards the output, so that nothing is sent twice.
   */
  private follow(event: CanonicalEvent): void {
    if (event.type === 'part-delta') this.chunks.recordDelta(event)
    else if (isFollowed(event)) {
      if (event.type === 'part-start') (this.startedParts[event.at.candidate] ??= new Set()).add(event.at.part)
      this.push(event)
    }
  }
}
