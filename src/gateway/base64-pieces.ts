/** Characters of base64 that are decoded at once: a multiple of 4. */
const PIECE = 256 * 1024

/** The bytes of a base64 text, piece by piece; decoded as leniently as `Buffer.from` does it. */
export function* base64Pieces(text: string): Generator<Uint8Array> {
  let held = ''
  for (let from = 0; from < text.length; from += PIECE) {
    const some = held + text.slice(from, from + PIECE).replaceAll(/[^\w+/-]/g, '')
    const whole = some.length - (some.length % 4)
    if (whole > 0) yield Buffer.from(some.slice(0, whole), 'base64')
    held = some.slice(whole)
  }
  if (held.length > 1) yield Buffer.from(held, 'base64')
}
