import { parseObject, stringIn } from '../../../canonical/node.ts'

/** Matches the event type at the start of a frame, where upstreams and clients write it, possibly after an id. */
const TYPE = /^\s*\{\s*(?:"event_id"\s*:\s*"[^"\\]*"\s*,\s*)?"type"\s*:\s*"([a-z_.]+)"\s*[,}]/

/** Number of characters inspected at the start of a frame. */
const PREFIX_LENGTH = 200

const BRACE = 0x7d

/** Returns the type at the start of a frame. Ignores truncated frames, which do not end in a brace. */
const typeAtStart = (frame: Buffer): string | undefined =>
  frame.at(-1) === BRACE ? TYPE.exec(frame.toString('latin1', 0, PREFIX_LENGTH))?.[1] : undefined

/**
 * Returns the event type of a frame, without parsing the frame if possible. Undefined if the frame is not a JSON
 * object.
 */
export function frameType(frame: Buffer): string | undefined {
  const atStart = typeAtStart(frame)
  if (atStart !== undefined) return atStart
  const value = parseObject(frame.toString())
  return value === undefined ? undefined : stringIn(value['type'])
}

/** Matches an audio frame of a caller up to its samples, and the end of such a frame after its samples. */
const AUDIO =
  /^\s*\{\s*(?:"event_id"\s*:\s*"[^"\\]*"\s*,\s*)?"type"\s*:\s*"input_audio_buffer\.append"\s*,\s*(?:"event_id"\s*:\s*"[^"\\]*"\s*,\s*)?"audio"\s*:\s*"/
const AUDIO_END = /^"\s*(?:,\s*"event_id"\s*:\s*"[^"\\]*"\s*)?\}\s*$/

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Whether a frame contains only audio and has the same meaning for every JSON reader, so that it can be relayed without
 * parsing. The samples are not inspected.
 */
export function isAudio(frame: Buffer): boolean {
  const begins = AUDIO.exec(frame.toString('latin1', 0, PREFIX_LENGTH))?.[0].length
  if (begins === undefined || frame.includes(BACKSLASH)) return false
  const ends = frame.indexOf(QUOTE, begins)
  return ends > 0 && frame.length - ends <= PREFIX_LENGTH && AUDIO_END.test(frame.toString('latin1', ends))
}
