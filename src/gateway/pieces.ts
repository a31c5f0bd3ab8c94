import type { CanonicalEvent, PartStart } from '../canonical/event.ts'
import { unfold } from '../canonical/fold.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { Source } from '../egress/sse.ts'

/** The stream of a result whose media may still be on their way: bytes become base64 as they come. Rejects as reading does. */
export async function* unfolding(result: CanonicalResult): AsyncGenerator<CanonicalEvent> {
  for (const event of unfold(result)) {
    if (event.type === 'part-start' && hasBytes(event.part)) yield* growing(event)
    else yield event
  }
}

const hasBytes = (part: PartStart['part']): boolean => part.type === 'media' && part.source.type === 'bytes'

/** Only whole groups of three bytes leave before the end: the pieces strung together are base64 again. */
async function* growing({ at, part }: PartStart): AsyncGenerator<CanonicalEvent> {
  if (part.type !== 'media' || part.source.type !== 'bytes') return
  const { mediaType, bytes } = part.source
  yield { type: 'part-start', at, part: { ...part, source: { type: 'base64', mediaType, data: '' } } }
  let waiting: Buffer = Buffer.alloc(0)
  for await (const piece of bytes.read()) {
    const all = waiting.length === 0 ? bufferOf(piece) : Buffer.concat([waiting, piece])
    const whole = all.length - (all.length % 3)
    waiting = all.subarray(whole)
    if (whole > 0) yield { type: 'part-delta', at, append: all.toString('base64', 0, whole) }
  }
  if (waiting.length > 0) yield { type: 'part-delta', at, append: waiting.toString('base64') }
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

/** Where a source waits whose own pausing is its reader's business. */
export class Gate implements Source {
  private closed: PromiseWithResolvers<void> | undefined

  pause(): void {
    this.closed ??= Promise.withResolvers<void>()
  }

  resume(): void {
    this.closed?.resolve()
    this.closed = undefined
  }

  /** Settles when the way is free. */
  get free(): Promise<void> | undefined {
    return this.closed?.promise
  }
}
