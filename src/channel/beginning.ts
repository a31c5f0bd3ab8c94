import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** The kind of a body by its first bytes: a JSON object or list, server-sent events, neither, or empty. */
export type Beginning = 'json' | 'events' | 'other' | 'nothing'

/** Bytes of white space after which detection stops; some upstreams send it while they think. */
const MOST_BLANKS = 4096

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
const BLANK: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20])
/** `{` and `[`. */
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b])
/** The beginnings of an event stream's first line: a comment, or the name of a field. */
const FIELDS = [':', 'data:', 'event:', 'id:', 'retry:']

/** The kind of a body by its first bytes; undefined where they are too few. */
export function beginningOf(bytes: Uint8Array): Beginning | undefined {
  let at = BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte) ? BYTE_ORDER_MARK.length : 0
  while (at < bytes.length && BLANK.has(bytes[at]!)) at++
  if (at === bytes.length) return at < MOST_BLANKS ? undefined : 'other'
  if (OPENING.has(bytes[at]!)) return 'json'
  const text = String.fromCharCode(...bytes.subarray(at, at + LONGEST))
  if (FIELDS.some(field => text.startsWith(field))) return 'events'
  const cut = bytes.length < at + LONGEST && FIELDS.some(field => field.startsWith(text))
  return cut || isCutMark(bytes) ? undefined : 'other'
}

const LONGEST = Math.max(...FIELDS.map(({ length }) => length))

const isCutMark = (bytes: Uint8Array): boolean =>
  bytes.length < BYTE_ORDER_MARK.length && bytes.every((byte, index) => byte === BYTE_ORDER_MARK[index])

/** Whether bytes begin as gzip does (RFC 1952 §2.3.1). */
export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

const INFLATERS: { readonly [encoding: string]: () => Transform } = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** Encodings whose first bytes show that a body is not compressed after all; Brotli's may be any. */
const DETECTABLE: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate'])

/**
 * The decompressor of a body, by its declared encoding and by its first bytes, which decide where the two disagree;
 * undefined where it is not compressed.
 */
export function inflaterFor(encoding: string, first: Uint8Array): Transform | undefined {
  const packed = Object.hasOwn(INFLATERS, encoding)
  if (isGzip(first)) return (packed ? INFLATERS[encoding]! : createGunzip)()
  if (!packed || (DETECTABLE.has(encoding) && isPlain(first))) return undefined
  return INFLATERS[encoding]!()
}

function isPlain(first: Uint8Array): boolean {
  const begins = beginningOf(first)
  return begins === 'json' || begins === 'events'
}
