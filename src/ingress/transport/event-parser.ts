import { StringDecoder } from 'node:string_decoder'
import type { Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { textEventParser } from './sse.ts'

/** A parser of server-sent events that stops at an event over the limit. */
export interface EventParser extends Transducer<Uint8Array, WireEvent> {
  /** True if an event exceeded the limit. No more events are emitted, and the caller should stop feeding bytes. */
  readonly overflowed: boolean
}

/** Parses server-sent events from chunks of bytes. Chunk boundaries may split a character, a line end or a field. */
export function eventParser(limit?: number): EventParser {
  /** Created when a chunk may end within a character. Most streams have no such chunk. */
  let decoder: StringDecoder | undefined
  const parser = textEventParser(limit)
  const textOf = (bytes: Uint8Array): string =>
    decoder === undefined && bytes[bytes.length - 1]! < FIRST_OF_SEVERAL
      ? bufferOf(bytes).toString()
      : (decoder ??= new StringDecoder('utf8')).write(bufferOf(bytes))
  return {
    push: bytes => parser.push(textOf(bytes)),
    end: () => (decoder === undefined ? parser.end() : [...parser.push(decoder.end()), ...parser.end()]),
    get overflowed() {
      return parser.overflowed
    },
  }
}

/** The lowest byte of characters of several bytes. A chunk that ends with a lower one ends with a whole character. */
const FIRST_OF_SEVERAL = 0x80

const bufferOf = (bytes: Uint8Array): Buffer =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
