import type { CanonicalEvent } from '../../canonical/event.ts'
import { NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { isFollowed, isUnfinished, isWanted, RelayedHeads } from '../relayed-chunks.ts'
import type { NativeEventWriter } from '../writer.ts'
import { type CompletionChunks, DONE } from './events.ts'

/**
 * Relays the chunks of an upstream of this format. Changes only the id, model and time. The chunk writer follows the
 * stream, so that it can take over and write later events.
 */
export class RelayedCompletion implements NativeEventWriter {
  private readonly chunks: CompletionChunks
  private readonly heads = new RelayedHeads()

  constructor(chunks: CompletionChunks) {
    this.chunks = chunks
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    return this.chunks.push(event)
  }

  end(): readonly WireEvent[] {
    return this.chunks.end()
  }

  relay(wire: WireEvent, read: readonly CanonicalEvent[]): readonly WireEvent[] {
    const { data } = wire
    const [first] = read
    if (read.length !== 1 || first!.type !== 'part-delta' || !isUnfinished(data)) {
      if (first?.type === 'result-start') this.heads.start(first)
      for (const event of read) if (isFollowed(event)) this.chunks.push(event)
      if (data === DONE.data) return [wire]
      if (this.heads.hasStarted && !isWanted(data, read, this.chunks)) return NOTHING
    }
    return this.heads.rewritten(wire)
  }
}
