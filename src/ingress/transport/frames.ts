import type { EventStreamCodec } from '@smithy/eventstream-codec'
import { parseObject } from '../../canonical/node.ts'
import { NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import type { EventParser } from './event-parser.ts'

/* The binary frames of AWS's event streams: headers, a payload and two checksums (docs/wire/converse.md#frames). */

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
const SHORTEST = 16

/** Opens a parser. Loads the codec with the first event stream. */
export const openFrameParser = async (limit?: number): Promise<EventParser> =>
  new FrameParser(await loadFrameCodec(), limit)

/** Returns a parser if an event stream was read before. */
export function loadedFrameParser(): EventParser | undefined {
  return codec && new FrameParser(codec)
}

/** Parses frames from chunks that may cut them anywhere. A damaged or incomplete frame becomes an error event. */
class FrameParser implements EventParser {
  overflowed = false
  private readonly codec: EventStreamCodec
  private readonly limit: number
  /** Bytes of the frame that is still arriving. */
  private chunks: Uint8Array[] = []
  private size = 0
  /** Length of that frame, once its first four bytes have arrived. */
  private wanted = SHORTEST
  private isDamaged = false

  constructor(codec: EventStreamCodec, limit = FRAME_LIMIT) {
    this.codec = codec
    this.limit = limit
  }

  push(bytes: Uint8Array): readonly WireEvent[] {
    if (this.overflowed || this.isDamaged) return NOTHING
    this.chunks.push(bytes)
    this.size += bytes.length
    if (this.size < this.wanted) return NOTHING
    const events: WireEvent[] = []
    let rest = this.chunks.length === 1 ? bytes : Buffer.concat(this.chunks)
    for (;;) {
      const length = lengthOf(rest)
      if (length > this.limit) this.overflowed = true
      this.wanted = Math.max(length, SHORTEST)
      if (this.overflowed || rest.length < this.wanted) break
      events.push(this.decoded(rest.subarray(0, length)))
      if (this.isDamaged) break
      rest = rest.subarray(length)
    }
    this.chunks = rest.length === 0 ? [] : [rest]
    this.size = rest.length
    return events
  }

  end(): readonly WireEvent[] {
    return this.size === 0 || this.overflowed || this.isDamaged ? NOTHING : [CUT]
  }

  private decoded(frame: Uint8Array): WireEvent {
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

/** Type of a frame that carries an event of another format, in base64 (docs/wire/converse.md#invokemodel). */
const CHUNK = 'chunk'

/** Returns the event that a frame carries. Its type is its name. Throws if there is none. */
function wrappedEvent(data: string): WireEvent {
  const text = Buffer.from(parseObject(data)!['bytes'] as string, 'base64').toString()
  return { event: String(parseObject(text)!['type'] ?? ''), data: text }
}

/** Returns the length of the frame that begins here. Zero if the length has not arrived. */
const lengthOf = (bytes: Uint8Array): number =>
  bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0)

/** Returns the event of an error that no format names. Its name is that of a frame without an exception. */
const failure = (message: string): WireEvent => ({ event: 'error', data: JSON.stringify({ message }) })

const DAMAGED = failure('The upstream sent a damaged frame.')
const CUT = failure('The upstream ended its answer within a frame.')
