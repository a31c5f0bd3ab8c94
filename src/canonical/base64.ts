/*
 * Base64 and UTF-8 conversion with Node's Buffer if it exists, and with web platform functions in browsers and edge
 * runtimes. Both give the same results, even for malformed input.
 */

const isNode = typeof Buffer !== 'undefined'

/**
 * Decodes base64, including its URL-safe alphabet. Skips invalid characters and stops at the padding, as `Buffer.from`
 * does.
 */
export const decodeBase64 = (text: string): Uint8Array => (isNode ? Buffer.from(text, 'base64') : portable.decode(text))

/** Encodes bytes as base64 without copying them first. */
export const encodeBase64 = (bytes: Uint8Array): string =>
  isNode ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') : portable.encode(bytes)

/** Decodes base64-encoded UTF-8 text. */
export const decodeBase64Text = (text: string): string =>
  isNode ? Buffer.from(text, 'base64').toString() : UTF8.decode(decodeBase64(text))

/** Encodes a string as UTF-8 in base64. */
export const encodeBase64Text = (text: string): string =>
  isNode ? Buffer.from(text).toString('base64') : encodeBase64(new TextEncoder().encode(text))

/** Returns the length of a string in UTF-8, in bytes. */
export const utf8Length = (text: string): number =>
  isNode ? Buffer.byteLength(text) : new TextEncoder().encode(text).length

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Number of bytes passed as arguments to one call. Below the limit of every engine. */
const CHUNK_SIZE = 8192

/** Implementation for runtimes without Buffer. */
export const portable = {
  decode(text: string): Uint8Array {
    const [beforePadding = ''] = text.split('=', 1)
    const digits = beforePadding
      .replaceAll('-', '+')
      .replaceAll('_', '/')
      .replaceAll(/[^A-Za-z0-9+/]/g, '')
    // Drops a single digit after the last group, because it encodes less than a byte.
    const completeDigits = digits.length % 4 === 1 ? digits.slice(0, -1) : digits
    return Uint8Array.from(atob(completeDigits), unit => unit.charCodeAt(0))
  },
  encode(bytes: Uint8Array): string {
    let units = ''
    for (let at = 0; at < bytes.length; at += CHUNK_SIZE)
      units += String.fromCharCode(...bytes.subarray(at, at + CHUNK_SIZE))
    return btoa(units)
  },
}
