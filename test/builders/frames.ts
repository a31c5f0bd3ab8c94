import type { ServerResponse } from 'node:http'
import { crc32 } from 'node:zlib'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'

/* Binary frames of AWS, encoded by hand, so that tests do not depend on the codec that they test. */

/** Encodes an event as a frame. `headers` replace those of an event or exception. */
export function frameBytes({ event = '', data }: WireEvent, headers?: { readonly [name: string]: string }): Buffer {
  const kind = event.endsWith('Exception') ? 'exception' : 'event'
  const usual = { ':message-type': kind, [`:${kind}-type`]: event, ':content-type': 'application/json' }
  const head = Buffer.concat(Object.entries(headers ?? usual).map(([name, value]) => headerBytes(name, value)))
  const body = Buffer.from(data)
  const length = 12 + head.length + body.length + 4
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(length, 0)
  prelude.writeUInt32BE(head.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const frame = Buffer.concat([prelude, head, body])
  const end = Buffer.alloc(4)
  end.writeUInt32BE(crc32(frame))
  return Buffer.concat([frame, end])
}

/** Type of a header whose value is a string. */
const STRING = 7

function headerBytes(name: string, value: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(value))
  return Buffer.concat([
    Buffer.from([Buffer.byteLength(name)]),
    Buffer.from(name),
    Buffer.from([STRING]),
    length,
    Buffer.from(value),
  ])
}

/** One event of a stream of Converse. */
export const converseFrame = (event: string, payload: JsonObject): Buffer =>
  frameBytes({ event, data: JSON.stringify(payload) })

/** Starts an answer of binary frames. */
export const frames = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })

/** A frame, decoded by hand. */
export interface Frame {
  readonly kind: string
  readonly name: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of many shapes
  readonly data: any
}

/** Decodes whole frames. Throws for a wrong checksum or length. */
export function framesIn(bytes: Buffer): readonly Frame[] {
  const found: Frame[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const frame = bytes.subarray(at, at + length)
    const sums = [crc32(frame.subarray(0, 8)), crc32(frame.subarray(0, -4))]
    if (frame.readUInt32BE(8) !== sums[0] || frame.readUInt32BE(length - 4) !== sums[1])
      throw new Error('wrong checksum')
    const end = 12 + frame.readUInt32BE(4)
    const headers = headersIn(frame.subarray(12, end))
    const kind = headers.get(':message-type')!
    const data = JSON.parse(frame.subarray(end, -4).toString())
    found.push({ kind, name: headers.get(`:${kind}-type`)!, data })
    at += length
  }
  return found
}

function headersIn(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  for (let at = 0; at < bytes.length; ) {
    const name = bytes.subarray(at + 1, at + 1 + bytes[at]!).toString()
    at += 1 + name.length
    if (bytes[at] !== STRING) throw new Error('not a string')
    const length = bytes.readUInt16BE(at + 1)
    headers.set(name, bytes.subarray(at + 3, at + 3 + length).toString())
    at += 3 + length
  }
  return headers
}
