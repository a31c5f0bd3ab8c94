import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import { withoutByteOrderMark } from '../../canonical/text.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'

/** How long one event may be, in UTF-16 units: an image of 4K in base64 fits. */
const EVENT_LIMIT = 48 * 1024 * 1024

export interface EventParser extends Transducer<Uint8Array, WireEvent> {
  /** An event outgrew the limit: no further event is put out, and the caller should stop feeding. */
  readonly overflowed: boolean
}

/**
 * Server-sent events from bytes cut anywhere: inside a character, a line end, a field. A last event without its
 * blank line counts as an event, since some upstreams omit it (trap 74). An event without data is skipped like a
 * comment: it is the upstream's sign of life, and clients fail to parse its data (trap 115).
 */
export function eventParser(limit = EVENT_LIMIT): EventParser {
  const decoder = new StringDecoder('utf8')
  let events: WireEvent[] = []
  let overflowed = false
  let started = false

  const parser = createParser({
    maxBufferSize: limit,
    onEvent: ({ event, data }) => {
      if (overflowed) return
      if (isBlank(data)) return
      if (data.length > limit) overflowed = true
      else events.push(event === undefined ? { data } : { event, data })
    },
    onError: fault => {
      if (fault.type === 'max-buffer-size-exceeded') overflowed = true
    },
  })

  const feed = (text: string): readonly WireEvent[] => {
    if (overflowed || text === '') return NOTHING
    parser.feed(started ? text : withoutByteOrderMark(text))
    started = true
    if (events.length === 0) return NOTHING
    const settled = events
    events = []
    return settled
  }

  return {
    push: bytes => feed(decoder.write(bytes as Buffer)),
    /** Two line ends complete an open line and event, and have no effect otherwise. */
    end: () => feed(`${decoder.end()}\n\n`),
    get overflowed() {
      return overflowed
    },
  }
}

const DONE = '[DONE]'
const LONGEST = 12

/** Whether an event has no data but a few spaces. */
export const isBlank = (data: string): boolean => data.length <= LONGEST && data.trim() === ''

/** Whether an event's data is empty in any format that has no such end mark: some upstreams end all streams with it. */
export const isEmptyData = (data: string): boolean => isBlank(data) || (data.length <= LONGEST && data.trim() === DONE)
