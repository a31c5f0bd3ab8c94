import { parseObject, stringIn } from '../../../canonical/node.ts'

/** The event type near the beginning of a frame, where upstreams and clients put it; at most behind an id. */
const TYPE = /^\s*\{\s*(?:"event_id"\s*:\s*"[^"\\]*"\s*,\s*)?"type"\s*:\s*"([a-z_.]+)"\s*[,}]/

/** Characters that are looked at. */
const FAR = 200

const BRACE = 0x7d

/** The type of a frame that looks whole; one that was cut off does not end in a brace. */
const typeNear = (frame: Buffer): string | undefined =>
  frame.at(-1) === BRACE ? TYPE.exec(frame.toString('latin1', 0, FAR))?.[1] : undefined

/** The event type of a frame, without parsing it if possible; undefined for a frame that is no JSON object. */
export function frameType(frame: Buffer): string | undefined {
  const near = typeNear(frame)
  if (near !== undefined) return near
  const value = parseObject(frame.toString())
  return value === undefined ? undefined : stringIn(value['type'])
}

/** The beginning of a caller's frame of audio, up to its samples; and the end of one behind them. */
const AUDIO =
  /^\s*\{\s*(?:"event_id"\s*:\s*"[^"\\]*"\s*,\s*)?"type"\s*:\s*"input_audio_buffer\.append"\s*,\s*(?:"event_id"\s*:\s*"[^"\\]*"\s*,\s*)?"audio"\s*:\s*"/
const AUDIO_END = /^"\s*(?:,\s*"event_id"\s*:\s*"[^"\\]*"\s*)?\}\s*$/

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Whether a frame surely is nothing but audio, and means the same to every reader: the samples are not looked at, and
 * nothing else stands in it. Any other frame of a caller is parsed.
 */
export function isAudio(frame: Buffer): boolean {
  const begins = AUDIO.exec(frame.toString('latin1', 0, FAR))?.[0].length
  if (begins === undefined || frame.includes(BACKSLASH)) return false
  const ends = frame.indexOf(QUOTE, begins)
  return ends > 0 && frame.length - ends <= FAR && AUDIO_END.test(frame.toString('latin1', ends))
}
