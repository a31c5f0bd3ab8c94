import type { Part } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { bodyOf, patched, withBody } from '../../canonical/fold.ts'
import { samplesOf } from '../../canonical/media/wav.ts'
import { spellingFor } from '../fields.ts'
import { isBare } from './answer.ts'
import { FORMAT } from './fields.ts'

/** The kinds of parts whose text is written chunk by chunk. */
export type Flow = 'text' | 'reasoning'

/** One part of a streamed answer while it grows. */
export class OpenPart {
  /** The text of the body that has been written. */
  written = ''
  /** The text of the body that is not written yet. */
  waiting = ''
  /** The JSON text before a chunk, once a chunk has been written. */
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

  /** The kind of chunks that the part is written as. Undefined if it must be whole. */
  get flow(): Flow | undefined {
    const { part } = this
    if (!isBare(part)) return undefined
    if (part.type === 'text') return 'text'
    if (part.type !== 'reasoning' || part.redacted || spellingFor(part, FORMAT)['as'] !== undefined) return undefined
    // Reasoning that had a signature of its own from the start came whole.
    const whole = part.signature !== undefined && spellingFor(part, FORMAT)['proof'] === 'self'
    return whole && this.prefix === undefined ? undefined : 'reasoning'
  }

  /** Whether every chunk is written as a separate part. Google itself streams raw samples this way. */
  get isChunked(): boolean {
    const { part } = this
    return (
      part.type === 'media' &&
      part.source.type === 'base64' &&
      samplesOf(part.source.mediaType) !== undefined &&
      isSourceOnly(part)
    )
  }

  /** Returns the waiting chunk as a part and counts it as written. */
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
