import type { Json, JsonObject } from '../../canonical/node.ts'

/** The spelling of values, where canonical ones do not determine it. */
export interface Marks {
  [name: string]: Json
}

/** Later than any second of this century, earlier than any millisecond since 1973. */
const MILLISECONDS = 1e11

/** A time in milliseconds, as Unix seconds; some vendors write seconds. */
export function readTime(data: JsonObject, field: string, marks: Marks, refused: string[]): number | undefined {
  const time = data[field]
  if (typeof time !== 'number' || !(time >= 0)) {
    if (time != null) refused.push(field)
    return undefined
  }
  marks[field] = time
  return Math.floor(time >= MILLISECONDS ? time / 1000 : time)
}

/** A length in a text, `"5.041"`. */
export function readSeconds(duration: Json | undefined, marks: Marks): number | undefined {
  const seconds = typeof duration === 'string' && duration.trim() !== '' ? Number(duration) : duration
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return undefined
  if (duration !== String(seconds)) marks['duration'] = duration!
  return seconds
}
