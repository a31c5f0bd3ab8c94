import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'

/**
 * Kind of a body, detected from its first bytes: a JSON object or list, server-sent events, HTML or XML, anything else,
 * or empty.
 */
export type BodyKind = 'json' | 'events' | 'markup' | 'other' | 'nothing'

/**
 * Maximum amount of leading white space that detection skips, in bytes. Some upstreams send white space while the model
 * thinks.
 */
const MAX_BLANKS = 4096

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
const BLANK_BYTES: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20])
/** The bytes `{` and `[`. */
const OPENING_BYTES: ReadonlySet<number> = new Set([0x7b, 0x5b])
/** Field names at the start of an event stream. A stream may also start with a comment. */
const EVENT_FIELDS = ['data:', 'event:', 'id:', 'retry:']
/**
 * Starts of HTML and XML documents, in lower case. A `<` alone is not sufficient, because audio may also start with it.
 */
const MARKUP_STARTS = ['<!doctype', '<!--', '<html', '<?xml']
const COLON = 0x3a

/** Detects the kind of a body. Returns undefined if more bytes are needed. */
export function bodyKindOf(bytes: Uint8Array): BodyKind | undefined {
  let at = hasMark(bytes) ? BYTE_ORDER_MARK.length : 0
  while (at < bytes.length && BLANK_BYTES.has(bytes[at]!)) at++
  if (at === bytes.length) return at < MAX_BLANKS ? undefined : 'other'
  if (OPENING_BYTES.has(bytes[at]!)) return 'json'
  if (bytes[at] === COLON) return kindOfComment(bytes.subarray(at))
  const length = Math.min(MAX_START_LENGTH, bytes.length - at)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + at, length).toString('latin1')
  for (const field of EVENT_FIELDS) if (text.startsWith(field)) return 'events'
  const lowered = text.toLowerCase()
  if (MARKUP_STARTS.some(tag => lowered.startsWith(tag))) return 'markup'
  const isCut = EVENT_FIELDS.some(field => field.startsWith(text)) || MARKUP_STARTS.some(tag => tag.startsWith(lowered))
  return isCut || isPartialByteOrderMark(bytes) ? undefined : 'other'
}

const hasMark = (bytes: Uint8Array): boolean =>
  bytes[0] === BYTE_ORDER_MARK[0] && bytes[1] === BYTE_ORDER_MARK[1] && bytes[2] === BYTE_ORDER_MARK[2]

const MAX_START_LENGTH = Math.max(...[...EVENT_FIELDS, ...MARKUP_STARTS].map(({ length }) => length))

/** Detects the kind of a body that starts with a colon. A comment in an event stream is text, whereas audio is not. */
function kindOfComment(bytes: Uint8Array): BodyKind | undefined {
  const text = Buffer.from(bytes.subarray(0, COMMENT_BYTES)).toString()
  if (BINARY.test(text)) return 'other'
  return bytes.length >= COMMENT_BYTES || /[\r\n]/.test(text) ? 'events' : undefined
}

/** Number of bytes of a comment to check. */
const COMMENT_BYTES = 32
/** Matches control characters and invalid UTF-8. A character that is cut off at the end is not matched. */
const BINARY = /[^\t\r\n -\u{10ffff}]|\ufffd./su

const isPartialByteOrderMark = (bytes: Uint8Array): boolean =>
  bytes.length < BYTE_ORDER_MARK.length && bytes.every((byte, index) => byte === BYTE_ORDER_MARK[index])

/** Returns true if the bytes start like gzip (RFC 1952 §2.3.1). */
const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

const INFLATERS: { readonly [encoding: string]: () => Transform } = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/**
 * Encodings for which the first bytes can show that a body is in fact not compressed. Brotli is excluded, because it
 * may start with any bytes.
 */
const DETECTABLE: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'zstd'])

/** Returns the decompressor for a declared encoding, or undefined if there is none. */
export const declaredInflater = (encoding: string): Transform | undefined =>
  Object.hasOwn(INFLATERS, encoding) ? INFLATERS[encoding]!() : undefined

/**
 * Returns the decompressor for a body, based on its declared encoding and its first bytes, which take precedence, or
 * undefined if the body is not compressed.
 */
export function inflaterFor(encoding: string, first: Uint8Array): Transform | undefined {
  const isCompressed = Object.hasOwn(INFLATERS, encoding)
  if (isGzip(first)) return (isCompressed ? INFLATERS[encoding]! : createGunzip)()
  if (!isCompressed || (DETECTABLE.has(encoding) && isUncompressed(first))) return undefined
  return INFLATERS[encoding]!()
}

/** Returns true if the first bytes show that a body is not compressed, regardless of its declared encoding. */
function isUncompressed(first: Uint8Array): boolean {
  const kind = bodyKindOf(first)
  return kind === 'json' || kind === 'events'
}
