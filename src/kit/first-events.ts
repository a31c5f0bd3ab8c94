import type { CanonicalEvent } from '../canonical/event.ts'
import { fold, step } from '../canonical/fold.ts'
import type { Path } from '../canonical/loss.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { Transducer } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { at } from './pointer.ts'

/**
 * Finds the first event of a stream after which its result has a place. Places in the order of the stream take one
 * reading of it together; each that comes out of order takes another.
 */
export class FirstEvents {
  private readonly reader: () => Transducer<WireEvent, CanonicalEvent>
  private readonly events: readonly WireEvent[]
  private machine: Transducer<WireEvent, CanonicalEvent>
  private result: CanonicalResult = fold([])
  private next = 0

  constructor(reader: () => Transducer<WireEvent, CanonicalEvent>, events: readonly WireEvent[]) {
    this.reader = reader
    this.events = events
    this.machine = reader()
  }

  /** The place of the event in the list of all; an empty path where only the end of the stream brings it. */
  with(path: Path): Path {
    if (at(this.result, path) !== undefined) this.rewind()
    while (this.next < this.events.length) {
      const index = this.next++
      for (const one of this.machine.push(this.events[index]!)) this.result = step(this.result, one, true)
      if (at(this.result, path) !== undefined) return [index]
    }
    return []
  }

  private rewind(): void {
    this.machine = this.reader()
    this.result = fold([])
    this.next = 0
  }
}
