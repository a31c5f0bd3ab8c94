import { crc32 } from 'node:zlib'
import type { WireEvent } from '../../canonical/wire.ts'
import type { Framing } from './sse.ts'

/* Binary frames of AWS event streams: headers, a payload and two checksums (docs/wire/converse.md#frames). */

/** Length of the two length fields and the checksum at the start of a frame, in bytes. */
const PRELUDE_LENGTH = 12
/** Length of a checksum, in bytes. */
const CHECKSUM_LENGTH = 4
/** Type code of headers whose value is text. */
const TEXT_TYPE = 7

/** Cache of encoded frame headers, by event name. A format defines only a few names. */
const headers = new Map<string, Buffer>()

function headersFor(event: string): Buffer {
  const cachedHeaders = headers.get(event)
  if (cachedHeaders !== undefined) return cachedHeaders
  const kind = isException(event) ? 'exception' : 'event'
  const encoded = Buffer.concat([
    header(':message-type', kind),
    header(`:${kind}-type`, event),
    header(':content-type', 'application/json'),
  ])
  if (headers.size < MAX_NAMES) headers.set(event, encoded)
  return encoded
}

/** Maximum number of event names whose headers are cached. */
const MAX_NAMES = 100

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(value))
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([TEXT_TYPE]),
    length,
    Buffer.from(value),
  ])
}

/** Encodes an event as a frame. The event name determines whether the frame is an exception. */
export function frameOf({ event = '', data }: WireEvent): Buffer {
  const head = headersFor(event)
  const length = PRELUDE_LENGTH + head.length + Buffer.byteLength(data) + CHECKSUM_LENGTH
  const frame = Buffer.allocUnsafe(length)
  frame.writeUInt32BE(length, 0)
  frame.writeUInt32BE(head.length, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  head.copy(frame, PRELUDE_LENGTH)
  frame.write(data, PRELUDE_LENGTH + head.length)
  frame.writeUInt32BE(crc32(frame.subarray(0, length - CHECKSUM_LENGTH)), length - CHECKSUM_LENGTH)
  return frame
}

const isException = (event: string): boolean => event.endsWith('Exception')

/** A frame type that clients do not know and therefore skip. */
const HEARTBEAT: WireEvent = { event: 'ping', data: '{}' }

const asText = (frame: Buffer): string => frame.toString('latin1')

/** Frames that contain one event each. */
export const EVENT_FRAMES: Framing = {
  contentType: 'application/vnd.amazon.eventstream',
  binary: true,
  frame: event => asText(frameOf(event)),
  close: () => '',
  defaultHeartbeat: asText(frameOf(HEARTBEAT)),
}

/**
 * Frames that contain another format's events in base64 (docs/wire/converse.md#invokemodel). Exceptions are separate
 * frames.
 */
export const CHUNK_FRAMES: Framing = {
  ...EVENT_FRAMES,
  frame: event => asText(frameOf(isException(event.event ?? '') ? event : chunkOf(event))),
}

const chunkOf = ({ data }: WireEvent): WireEvent => ({
  event: 'chunk',
  data: JSON.stringify({ bytes: Buffer.from(data).toString('base64') }),
})
