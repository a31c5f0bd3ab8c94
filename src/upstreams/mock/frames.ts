import { crc32 } from 'node:zlib'

/* Binary frames of AWS's event streams (docs/wire/converse.md#frames). */

/** Content type of event streams. */
export const FRAMES = 'application/vnd.amazon.eventstream'

/** Converts recorded server-sent events to frames. */
export const framesOf = (events: string): Buffer =>
  Buffer.concat([...events.matchAll(/^event: ?(.*)\r?\ndata: ?(.*)$/gm)].map(([, name, data]) => frame(name!, data!)))

/** Length of the two lengths and the checksum at the start of a frame, in bytes. */
const PRELUDE = 12
/** Length of a checksum, in bytes. */
const CHECKSUM = 4

function frame(name: string, data: string): Buffer {
  const kind = name.endsWith('Exception') ? 'exception' : 'event'
  const head = Buffer.concat([
    header(':message-type', kind),
    header(`:${kind}-type`, name),
    header(':content-type', 'application/json'),
  ])
  const body = Buffer.from(data)
  const prelude = Buffer.alloc(PRELUDE)
  prelude.writeUInt32BE(PRELUDE + head.length + body.length + CHECKSUM, 0)
  prelude.writeUInt32BE(head.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const content = Buffer.concat([prelude, head, body])
  const checksum = Buffer.alloc(CHECKSUM)
  checksum.writeUInt32BE(crc32(content))
  return Buffer.concat([content, checksum])
}

/** Type of a header whose value is text. */
const TEXT = 7

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(value.length)
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([TEXT]), length, Buffer.from(value)])
}
