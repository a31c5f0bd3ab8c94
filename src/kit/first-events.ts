import type { CanonicalEvent } from '../canonical/event.ts'
import { applyEvent, fold } from '../canonical/fold.ts'
import type { Path } from '../canonical/loss.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { Transducer } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { at } from './pointer.ts'

/**
 * Finds the first event of a stream after which its result has a value at a path. Paths in the order of the stream are
 * found in one reading of the stream; each path out of order needs another reading.
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

  /** Returns the index of the event, as a path; an empty path if only the end of the stream sets the value. */
  with(path: Path): Path {
    if (at(this.result, path) !== undefined) this.rewind()
    while (this.next < this.events.length) {
      const index = this.next++
      for (const one of this.machine.push(this.events[index]!)) this.result = applyEvent(this.result, one, true)
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
