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

const BACKSLASH = 0x5c
const NAME = '"type"'

/**
 * The event type of a frame whose sender is not trusted. What is looked at twice must mean the same twice: a frame with
 * another `type` or an escape behind the first is parsed, and the last `type` counts, as with the upstream.
 */
export function callerFrameType(frame: Buffer): string | undefined {
  const near = typeNear(frame)
  const isOnly = near !== undefined && frame.indexOf(NAME) === frame.lastIndexOf(NAME) && !frame.includes(BACKSLASH)
  if (isOnly) return near
  const value = parseObject(frame.toString())
  return value === undefined ? undefined : stringIn(value['type'])
}
