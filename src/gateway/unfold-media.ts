import type { CanonicalEvent, PartStart } from '../canonical/event.ts'
import { unfold } from '../canonical/fold.ts'
import { Base64Groups } from '../canonical/media/base64.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { Source } from '../egress/transport/sse.ts'

/** The stream of a result whose media may still be on their way: bytes become base64 as they come. Rejects as reading does. */
export async function* unfoldMedia(result: CanonicalResult): AsyncGenerator<CanonicalEvent> {
  for (const event of unfold(result)) {
    if (event.type === 'part-start' && hasBytes(event.part)) yield* growing(event)
    else yield event
  }
}

const hasBytes = (part: PartStart['part']): boolean => part.type === 'media' && part.source.type === 'bytes'

async function* growing({ at, part }: PartStart): AsyncGenerator<CanonicalEvent> {
  if (part.type !== 'media' || part.source.type !== 'bytes') return
  const { mediaType, bytes } = part.source
  yield { type: 'part-start', at, part: { ...part, source: { type: 'base64', mediaType, data: '' } } }
  const groups = new Base64Groups()
  for await (const piece of bytes.read()) {
    const append = groups.push(bufferOf(piece))
    if (append !== '') yield { type: 'part-delta', at, append }
  }
  const append = groups.end()
  if (append !== '') yield { type: 'part-delta', at, append }
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
