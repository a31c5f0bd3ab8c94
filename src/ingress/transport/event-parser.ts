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
  const decoder = new StringDecoder('utf8')
  const parser = textEventParser(limit)
  return {
    push: bytes => parser.push(decoder.write(bytes as Buffer)),
    end: () => [...parser.push(decoder.end()), ...parser.end()],
    get overflowed() {
      return parser.overflowed
    },
  }
}
