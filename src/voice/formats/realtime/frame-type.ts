import { parseObject, stringIn } from '../../../canonical/node.ts'

/** Matches the event type at the start of a frame, optionally after an id, where upstreams and clients write it. */
const TYPE_PATTERN = /^\s*\{\s*(?:"event_id"\s*:\s*"[^"\\]*"\s*,\s*)?"type"\s*:\s*"([a-z_.]+)"\s*[,}]/

/** Number of characters to inspect at the start of a frame. */
const PREFIX_LENGTH = 200

const BRACE = 0x7d

/** Returns the type at the start of a frame. A truncated frame, which does not end in a brace, is ignored. */
const typeAtStart = (frame: Buffer): string | undefined =>
  frame.at(-1) === BRACE ? TYPE_PATTERN.exec(frame.toString('latin1', 0, PREFIX_LENGTH))?.[1] : undefined

/**
 * Returns the event type of a frame, if possible without parsing the frame, or undefined if the frame is not a JSON
 * object.
 */
export function frameType(frame: Buffer): string | undefined {
  const atStart = typeAtStart(frame)
  if (atStart !== undefined) return atStart
  const value = parseObject(frame.toString())
  return value === undefined ? undefined : stringIn(value['type'])
}

/** Matches the part of a caller's audio frame before the samples. */
const AUDIO =
  /^\s*\{\s*(?:"event_id"\s*:\s*"[^"\\]*"\s*,\s*)?"type"\s*:\s*"input_audio_buffer\.append"\s*,\s*(?:"event_id"\s*:\s*"[^"\\]*"\s*,\s*)?"audio"\s*:\s*"/
/** Matches the end of such a frame after the samples. */
const AUDIO_END = /^"\s*(?:,\s*"event_id"\s*:\s*"[^"\\]*"\s*)?\}\s*$/

/** Returns the length of the text in a frame's field `delta`, in bytes, without parsing the frame. */
export function deltaLength(frame: Buffer): number {
  const name = frame.indexOf(DELTA)
  const start = name < 0 ? 0 : frame.indexOf(QUOTE, name + DELTA.length) + 1
  if (start === 0) return 0
  let end = frame.indexOf(QUOTE, start)
  while (end > start && frame[end - 1] === BACKSLASH) end = frame.indexOf(QUOTE, end + 1)
  return Math.max(0, end - start)
}

const DELTA = '"delta"'

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Returns true if a frame contains only audio and has the same meaning for every JSON parser, so that it can be relayed
 * without parsing. The samples are not inspected.
 */
export function isAudio(frame: Buffer): boolean {
  const start = AUDIO.exec(frame.toString('latin1', 0, PREFIX_LENGTH))?.[0].length
  if (start === undefined || frame.includes(BACKSLASH)) return false
  const ends = frame.indexOf(QUOTE, start)
  return ends > 0 && frame.length - ends <= PREFIX_LENGTH && AUDIO_END.test(frame.toString('latin1', ends))
}
