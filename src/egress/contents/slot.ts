import type { Part } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { bodyOf, patched, withBody } from '../../canonical/fold.ts'
import { samplesOf } from '../../canonical/media/wav.ts'
import { spelt } from '../fields.ts'
import { isBare } from './answer.ts'
import { FORMAT } from './fields.ts'

export type Flow = 'text' | 'reasoning'

/** One part of a streamed answer while it grows. */
export class Slot {
  /** The part of its body that has been written. */
  written = ''
  /** The part of its body that waits to be written. */
  waiting = ''
  /** The text before a chunk of it, once some have been written. */
  prefix: string | undefined
  /** Whether chunks of it have been written as separate parts. */
  flowed = false
  /** Its place among the parts of the candidate. */
  readonly place: number
  private part: Part

  constructor(part: Part, place: number) {
    this.part = part
    this.place = place
    this.waiting = bodyOf(part)
  }

  /** The kind of chunks the part is streamed as; undefined where it must be whole. */
  get flow(): Flow | undefined {
    const { part } = this
    if (!isBare(part)) return undefined
    if (part.type === 'text') return 'text'
    if (part.type !== 'reasoning' || part.redacted || spelt(part, FORMAT)['as'] !== undefined) return undefined
    // A thought with its own signature from the start came whole.
    const whole = part.signature !== undefined && spelt(part, FORMAT)['proof'] === 'self'
    return whole && this.prefix === undefined ? undefined : 'reasoning'
  }

  /** Raw samples need not be whole: every chunk is a separate part, as Google itself streams them. */
  get flows(): boolean {
    const { part } = this
    return (
      part.type === 'media' &&
      part.source.type === 'base64' &&
      samplesOf(part.source.mediaType) !== undefined &&
      isSourceOnly(part)
    )
  }

  /** Takes the waiting chunk, as a part. */
  takeWaiting(): Part {
    const part = withBody(this.part, this.waiting)
    this.waiting = ''
    this.flowed = true
    return part
  }

  patch(event: PartPatch): void {
    this.part = patched(this.part, event, true)
    if (event.part !== undefined && this.prefix === undefined) this.waiting = bodyOf(event.part)
  }

  /** The part with its whole body. */
  whole(): Part {
    return withBody(this.part, this.written + this.waiting)
  }
}

const isSourceOnly = (part: Part): boolean =>
  Object.keys(part).every(field => field === 'type' || field === 'kind' || field === 'source')
