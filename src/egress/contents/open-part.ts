import type { Part } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { bodyOf, patched, withBody } from '../../canonical/fold.ts'
import { samplesOf } from '../../canonical/media/wav.ts'
import { spellingFor } from '../fields.ts'
import { isBare } from './answer.ts'
import { FORMAT } from './fields.ts'

/** Kinds of parts whose text is written in chunks. */
export type Flow = 'text' | 'reasoning'

/** A part of a streamed answer that is still growing. */
export class OpenPart {
  /** Text of the body that has already been written. */
  written = ''
  /** Text of the body that has not been written yet. */
  waiting = ''
  /** JSON text that precedes a chunk. Undefined until a chunk has been written. */
  prefix: string | undefined
  /** Whether chunks have been written as separate parts. */
  wasChunked = false
  /** The index of the part in the candidate. */
  readonly index: number
  private part: Part

  constructor(part: Part, index: number) {
    this.part = part
    this.index = index
    this.waiting = bodyOf(part)
  }

  /** The kind of chunks that the part is written in. Undefined if it must be written as a whole. */
  get flow(): Flow | undefined {
    const { part } = this
    if (!isBare(part)) return undefined
    if (part.type === 'text') return 'text'
    if (part.type !== 'reasoning' || part.redacted || spellingFor(part, FORMAT)['as'] !== undefined) return undefined
    // Reasoning that started with its own signature arrived as a whole.
    const whole = part.signature !== undefined && spellingFor(part, FORMAT)['proof'] === 'self'
    return whole && this.prefix === undefined ? undefined : 'reasoning'
  }

  /** Whether every chunk is written as a separate part. Google itself streams raw samples in this way. */
  get isChunked(): boolean {
    const { part } = this
    return (
      part.type === 'media' &&
      part.source.type === 'base64' &&
      samplesOf(part.source.mediaType) !== undefined &&
      isSourceOnly(part)
    )
  }

  /** Returns the waiting chunk as a part, and marks it as written. */
  takeChunk(): Part {
    const part = withBody(this.part, this.waiting)
    this.waiting = ''
    this.wasChunked = true
    return part
  }

  patch(event: PartPatch): void {
    this.part = patched(this.part, event, true)
    if (event.part !== undefined && this.prefix === undefined) this.waiting = bodyOf(event.part)
  }

  /** Returns the part with its whole body. */
  whole(): Part {
    return withBody(this.part, this.written + this.waiting)
  }
}

const isSourceOnly = (part: Part): boolean =>
  Object.keys(part).every(field => field === 'type' || field === 'kind' || field === 'source')
