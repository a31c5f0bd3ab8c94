/** What a body begins like: a JSON object or list, server-sent events, neither, or there is none. */
export type Beginning = 'json' | 'events' | 'other' | 'nothing'

/** So much white space says nothing any more; some upstreams send it while they think. */
const ENOUGH = 4096

const MARK = [0xef, 0xbb, 0xbf]
const BLANK: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20])
/** `{` and `[`. */
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b])
/** How the first line of an event stream begins: with a comment, or the name of a field. */
const FIELDS = [':', 'data:', 'event:', 'id:', 'retry:']

/** What the first bytes of a body tell; undefined where they are too few. */
export function beginningOf(bytes: Uint8Array): Beginning | undefined {
  let at = MARK.every((byte, index) => bytes[index] === byte) ? MARK.length : 0
  while (at < bytes.length && BLANK.has(bytes[at]!)) at++
  if (at === bytes.length) return at < ENOUGH ? undefined : 'other'
  if (OPENING.has(bytes[at]!)) return 'json'
  const said = String.fromCharCode(...bytes.subarray(at, at + LONGEST))
  if (FIELDS.some(field => said.startsWith(field))) return 'events'
  const cut = bytes.length < at + LONGEST && FIELDS.some(field => field.startsWith(said))
  return cut || isCutMark(bytes) ? undefined : 'other'
}

const LONGEST = Math.max(...FIELDS.map(({ length }) => length))

const isCutMark = (bytes: Uint8Array): boolean =>
  bytes.length < MARK.length && bytes.every((byte, index) => byte === MARK[index])

/** Whether bytes begin as gzip does (RFC 1952 §2.3.1). */
export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b
