import type { Annotation, Part } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { bodyOf, withBody } from '../../canonical/fold.ts'
import { samplesOf } from '../../canonical/media/wav.ts'
import { spelt } from '../fields.ts'
import { isBare } from './answer.ts'
import { FORMAT } from './fields.ts'

export type Flow = 'text' | 'reasoning'

/** One part of a streamed answer while it grows. */
export class Slot {
  /** What has been written of its body. */
  said = ''
  /** What waits to be written. */
  waiting = ''
  ended = false
  /** Whether its pieces have begun to go out. */
  begun = false
  prefix = ''
  /** Whether pieces of it have gone out as parts of their own. */
  flowed = false
  private part: Part
  private annotations: Annotation[] | undefined

  constructor(part: Part) {
    this.part = part
    this.waiting = bodyOf(part)
  }

  /** As what its pieces go out as they come; undefined where it must be whole. */
  get flow(): Flow | undefined {
    const { part } = this
    if (!isBare(part)) return undefined
    if (part.type === 'text') return 'text'
    if (part.type !== 'reasoning' || part.redacted || spelt(part, FORMAT)['as'] !== undefined) return undefined
    // A thought that is signed itself, and from the start, came whole.
    const whole = part.signature !== undefined && spelt(part, FORMAT)['proof'] === 'self'
    return whole && !this.begun ? undefined : 'reasoning'
  }

  /** Raw samples need not be whole: every piece is a part of its own, as Google itself streams them. */
  get flows(): boolean {
    const { part } = this
    return (
      part.type === 'media' &&
      part.source.type === 'base64' &&
      samplesOf(part.source.mediaType) !== undefined &&
      isSourceOnly(part)
    )
  }

  /** What waits, as a part. */
  piece(): Part {
    const part = withBody(this.part, this.waiting)
    this.waiting = ''
    this.flowed = true
    return part
  }

  patch({ part, signature, annotations, extras, spelling }: PartPatch): void {
    if (part !== undefined) {
      this.part = part
      if (!this.begun) this.waiting = bodyOf(part)
    }
    if (signature !== undefined && this.part.type === 'reasoning') this.part = { ...this.part, signature }
    for (const annotation of annotations ?? []) (this.annotations ??= []).push(annotation)
    if (extras !== undefined) this.part = { ...this.part, extras: { ...this.part.extras, ...extras } }
    if (spelling !== undefined) this.part = { ...this.part, spelling: { ...this.part.spelling, ...spelling } }
  }

  /** The part with all its body and notes. */
  whole(): Part {
    const part = withBody(this.part, this.said + this.waiting)
    if (part.type !== 'text' || this.annotations === undefined) return part
    return { ...part, annotations: [...(part.annotations ?? []), ...this.annotations] }
  }
}

/** Nothing is said of it but what it is. */
const isSourceOnly = (part: Part): boolean =>
  Object.keys(part).every(field => field === 'type' || field === 'kind' || field === 'source')
