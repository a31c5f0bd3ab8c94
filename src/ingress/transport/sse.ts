import { createParser } from 'eventsource-parser'
import { withoutByteOrderMark } from '../../canonical/text.ts'
import { NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'

/** Maximum length of an event in UTF-16 units, enough for a 4K image in base64. */
const EVENT_LIMIT = 48 * 1024 * 1024

/** A parser of the text of server-sent events that stops at an event over the limit. */
export interface TextEventParser extends Transducer<string, WireEvent> {
  /** True if an event exceeded the limit. No more events are emitted, and the caller should stop feeding text. */
  readonly overflowed: boolean
}

/**
 * Parses server-sent events from chunks of text. Chunk boundaries may split a line end or a field. The last event
 * counts even without a blank line, because some upstreams omit that line (trap 74). Events without data are skipped
 * like comments, because upstreams send them as keep-alives and clients fail to parse them (trap 115).
 */
export function textEventParser(limit = EVENT_LIMIT): TextEventParser {
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
    push: feed,
    /** Two line ends complete an open line and an open event. Otherwise, they have no effect. */
    end: () => feed('\n\n'),
    get overflowed() {
      return overflowed
    },
  }
}

const DONE = '[DONE]'
const MAX_BLANK_LENGTH = 12

/** Returns true if an event's data is empty or only a few spaces. */
export const isBlank = (data: string): boolean => data.length <= MAX_BLANK_LENGTH && data.trim() === ''

/**
 * Returns true if an event's data is empty, for formats without an end mark. `[DONE]` counts as empty, because some
 * upstreams end every stream with it.
 */
export const isEmptyData = (data: string): boolean =>
  isBlank(data) || (data.length <= MAX_BLANK_LENGTH && data.trim() === DONE)
