/*
 * Base64 and UTF-8 with Node's Buffer where there is one, and with the functions of the web platform in browsers and
 * edge runtimes. Both read the same texts alike, also malformed ones.
 */

const isNode = typeof Buffer !== 'undefined'

/**
 * Decodes base64, also its URL-safe alphabet. Skips characters outside of the alphabet and stops at the padding, as
 * `Buffer.from` does.
 */
export const decodeBase64 = (text: string): Uint8Array => (isNode ? Buffer.from(text, 'base64') : portable.decode(text))

/** Encodes bytes as base64 without copying them first. */
export const encodeBase64 = (bytes: Uint8Array): string =>
  isNode ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') : portable.encode(bytes)

/** Decodes the base64 of a text in UTF-8. */
export const decodeBase64Text = (text: string): string =>
  isNode ? Buffer.from(text, 'base64').toString() : UTF8.decode(decodeBase64(text))

/** Encodes a text in UTF-8 as base64. */
export const encodeBase64Text = (text: string): string =>
  isNode ? Buffer.from(text).toString('base64') : encodeBase64(new TextEncoder().encode(text))

/** Returns the length of a text in UTF-8, in bytes. */
export const utf8Length = (text: string): number =>
  isNode ? Buffer.byteLength(text) : new TextEncoder().encode(text).length

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Number of bytes that are passed as arguments of one call, below the limit of every engine. */
const CHUNK = 8192

/** The functions for runtimes without Buffer. */
export const portable = {
  decode(text: string): Uint8Array {
    const [beforePadding = ''] = text.split('=', 1)
    const digits = beforePadding
      .replaceAll('-', '+')
      .replaceAll('_', '/')
      .replaceAll(/[^A-Za-z0-9+/]/g, '')
    // A single digit after the last group is less than a byte.
    const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits
    return Uint8Array.from(atob(whole), unit => unit.charCodeAt(0))
  },
  encode(bytes: Uint8Array): string {
    let units = ''
    for (let at = 0; at < bytes.length; at += CHUNK) units += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
    return btoa(units)
  },
}
