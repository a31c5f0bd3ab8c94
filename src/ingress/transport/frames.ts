import type { EventStreamCodec } from '@smithy/eventstream-codec'
import { parseObject, stringIn } from '../../canonical/node.ts'
import { NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import type { EventParser } from './event-parser.ts'

/* Binary frames of AWS's event streams: headers, a payload and two checksums (docs/wire/converse.md#frames). */

/** Content type of event streams. */
export const FRAMES = 'application/vnd.amazon.eventstream'

let codec: EventStreamCodec | undefined

/** Loads the codec on first use. */
async function loadFrameCodec(): Promise<EventStreamCodec> {
  if (codec !== undefined) return codec
  const { EventStreamCodec } = await import('@smithy/eventstream-codec')
  codec = new EventStreamCodec(
    bytes => Buffer.from(bytes as Uint8Array).toString(),
    text => Buffer.from(text),
  )
  return codec
}

/** Maximum length of a frame, in bytes. AWS sends at most 16 MiB. */
const FRAME_LIMIT = 24 * 1024 * 1024

/** Minimum length of a frame, in bytes: two lengths and two checksums. */
const MIN_FRAME_LENGTH = 16

/** Opens a parser. The codec is loaded for the first event stream. */
export const openFrameParser = async (limit?: number): Promise<EventParser> =>
  new FrameParser(await loadFrameCodec(), limit)

/** Returns a parser if the codec is loaded. Undefined otherwise. */
export function loadedFrameParser(): EventParser | undefined {
  return codec && new FrameParser(codec)
}

/**
 * Parses frames from chunks of bytes. Chunk boundaries may be anywhere in a frame. A damaged or incomplete frame
 * becomes an error event.
 */
class FrameParser implements EventParser {
  overflowed = false
  private readonly codec: EventStreamCodec
  private readonly limit: number
  /** Chunks of the current frame, which is incomplete. */
  private chunks: Uint8Array[] = []
  private size = 0
  /** Length of the current frame. Until its first four bytes have arrived, the minimum length. */
  private frameLength = MIN_FRAME_LENGTH
  private isDamaged = false

  constructor(codec: EventStreamCodec, limit = FRAME_LIMIT) {
    this.codec = codec
    this.limit = limit
  }

  push(bytes: Uint8Array): readonly WireEvent[] {
    if (this.overflowed || this.isDamaged) return NOTHING
    this.chunks.push(bytes)
    this.size += bytes.length
    if (this.size < this.frameLength) return NOTHING
    const events: WireEvent[] = []
    let rest = this.chunks.length === 1 ? bytes : Buffer.concat(this.chunks)
    for (;;) {
      const length = lengthOf(rest)
      if (length > this.limit) this.overflowed = true
      this.frameLength = Math.max(length, MIN_FRAME_LENGTH)
      if (this.overflowed || rest.length < this.frameLength) break
      events.push(this.decode(rest.subarray(0, length)))
      if (this.isDamaged) break
      rest = rest.subarray(length)
    }
    this.chunks = rest.length === 0 ? [] : [rest]
    this.size = rest.length
    return events
  }

  end(): readonly WireEvent[] {
    return this.size === 0 || this.overflowed || this.isDamaged ? NOTHING : [CUT_FRAME]
  }

  private decode(frame: Uint8Array): WireEvent {
    try {
      const { headers, body } = this.codec.decode(frame)
      const data = Buffer.from(body.buffer, body.byteOffset, body.length).toString()
      const value = (name: string): string => String(headers[name]?.value ?? '')
      if (value(':message-type') === 'error')
        return failure(value(':error-message') || value(':error-code') || 'The upstream failed.')
      const event = value(':event-type') || value(':exception-type')
      return event === CHUNK ? wrappedEvent(data) : { event, data }
    } catch {
      this.isDamaged = true
      return DAMAGED
    }
  }
}

/** Type of a frame that contains an event of another format, in base64 (docs/wire/converse.md#invokemodel). */
const CHUNK = 'chunk'

/** Returns the event of another format in a frame. The event's type serves as its name. Throws if there is no event. */
function wrappedEvent(data: string): WireEvent {
  const text = Buffer.from(parseObject(data)!['bytes'] as string, 'base64').toString()
  return { event: stringIn(parseObject(text)!['type']), data: text }
}

/** Returns the length of the frame that starts here. Zero if the length has not arrived. */
const lengthOf = (bytes: Uint8Array): number =>
  bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0)

/** Returns an event for an error without an exception name. */
const failure = (message: string): WireEvent => ({ event: 'error', data: JSON.stringify({ message }) })

const DAMAGED = failure('The upstream sent a damaged frame.')
const CUT_FRAME = failure('The upstream ended its answer within a frame.')
