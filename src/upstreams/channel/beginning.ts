import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** The kind of a body by its first bytes: a JSON object or list, server-sent events, a page, none of them, or empty. */
export type Beginning = 'json' | 'events' | 'markup' | 'other' | 'nothing'

/** Bytes of white space after which detection stops; some upstreams send it while they think. */
const MOST_BLANKS = 4096

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
const BLANK: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20])
/** `{` and `[`. */
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b])
/** The names of fields with which an event stream begins where no comment does. */
const FIELDS = ['data:', 'event:', 'id:', 'retry:']
/** How pages of HTML and documents of XML begin, in any case; a mere `<` could be a sample. */
const TAGS = ['<!doctype', '<!--', '<html', '<?xml']
const COLON = 0x3a

/** The kind of a body by its first bytes; undefined where they are too few. */
export function beginningOf(bytes: Uint8Array): Beginning | undefined {
  let at = BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte) ? BYTE_ORDER_MARK.length : 0
  while (at < bytes.length && BLANK.has(bytes[at]!)) at++
  if (at === bytes.length) return at < MOST_BLANKS ? undefined : 'other'
  if (OPENING.has(bytes[at]!)) return 'json'
  if (bytes[at] === COLON) return ofComment(bytes.subarray(at))
  const text = String.fromCharCode(...bytes.subarray(at, at + LONGEST))
  const lowered = text.toLowerCase()
  if (FIELDS.some(field => text.startsWith(field))) return 'events'
  if (TAGS.some(tag => lowered.startsWith(tag))) return 'markup'
  const isCut = FIELDS.some(field => field.startsWith(text)) || TAGS.some(tag => tag.startsWith(lowered))
  return isCut || isCutMark(bytes) ? undefined : 'other'
}

const LONGEST = Math.max(...[...FIELDS, ...TAGS].map(({ length }) => length))

/** The kind of a body that begins with a colon: samples may, but a comment of an event stream is text. */
function ofComment(bytes: Uint8Array): Beginning | undefined {
  const text = Buffer.from(bytes.subarray(0, COMMENT)).toString()
  if (NO_TEXT.test(text)) return 'other'
  return bytes.length >= COMMENT || /[\r\n]/.test(text) ? 'events' : undefined
}

/** Bytes of a comment that are looked at. */
const COMMENT = 32
/** Control characters, and what is no UTF-8 before the place where a character may have been cut. */
const NO_TEXT = /[^\t\r\n -\u{10ffff}]|\ufffd./su

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
  if (!packed || (DETECTABLE.has(encoding) && isUnpacked(first))) return undefined
  return INFLATERS[encoding]!()
}

function isUnpacked(first: Uint8Array): boolean {
  const begins = beginningOf(first)
  return begins === 'json' || begins === 'events'
}
