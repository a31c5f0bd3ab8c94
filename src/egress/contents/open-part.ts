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
  /** Body text that has been written. */
  writtenText = ''
  /** Body text that has not been written yet. */
  pendingText = ''
  /** JSON text that precedes a chunk, or undefined until a chunk has been written. */
  prefix: string | undefined
  /** True if chunks have been written as separate parts. */
  wasChunked = false
  /** The index of the part in the candidate. */
  readonly index: number
  private part: Part

  constructor(part: Part, index: number) {
    this.part = part
    this.index = index
    this.pendingText = bodyOf(part)
  }

  /** Kind of the part's chunks, or undefined if the part must be written in one piece. */
  get flow(): Flow | undefined {
    const { part } = this
    if (!isBare(part)) return undefined
    if (part.type === 'text') return 'text'
    if (part.type !== 'reasoning' || part.redacted || spellingFor(part, FORMAT)['as'] !== undefined) return undefined
    // Reasoning that started with its own signature arrived in one piece.
    const isWhole = part.signature !== undefined && spellingFor(part, FORMAT)['proof'] === 'self'
    return isWhole && this.prefix === undefined ? undefined : 'reasoning'
  }

  /** True if every chunk is written as a separate part. Google itself streams raw samples this way. */
  get isChunked(): boolean {
    const { part } = this
    return (
      part.type === 'media' &&
      part.source.type === 'base64' &&
      samplesOf(part.source.mediaType) !== undefined &&
      isSourceOnly(part)
    )
  }

  /** Returns the pending chunk as a part and marks it as written. */
  takeChunk(): Part {
    const part = withBody(this.part, this.pendingText)
    this.pendingText = ''
    this.wasChunked = true
    return part
  }

  patch(event: PartPatch): void {
    this.part = patched(this.part, event, true)
    if (event.part !== undefined && this.prefix === undefined) this.pendingText = bodyOf(event.part)
  }

  /** Returns the part with its complete body. */
  completePart(): Part {
    return withBody(this.part, this.writtenText + this.pendingText)
  }
}

const isSourceOnly = (part: Part): boolean =>
  Object.keys(part).every(field => field === 'type' || field === 'kind' || field === 'source')
