import { invalid } from './error.ts'
import { percentDecoded } from './text.ts'

/**
 * Whether a name may become part of an address. Servers and proxies on the way may decode a path again, take a backslash
 * for a slash (WHATWG URL), ignore parameters behind a semicolon, or normalise Unicode: a name that has a backslash or a
 * dot segment in any of these readings means another place (RFC 3986, section 5.2.4).
 */
export function isAddressable(name: string): boolean {
  if (name === '') return false
  if (PLAIN.test(name)) return !name.split('/').some(isDots)
  let text = name
  for (let decodings = 0; decodings <= MOST_DECODINGS; decodings++) {
    const read = text.normalize('NFKC')
    if (UNSAFE.test(read) || read.split('/').some(isDots)) return false
    const decoded = text.replace(ESCAPES, percentDecoded)
    if (decoded === text) return true
    text = decoded
  }
  return false
}

/** A name that reads the same whoever decodes it. */
const PLAIN = /^[\w.:/-]+$/
const DOTS = /^\.{1,2}$/
/** A backslash, and characters that no name has: controls, and what ends or hides text. */
const UNSAFE = /[\\\p{Cc}\p{Zl}\p{Zp}]/u
const ESCAPES = /(?:%[0-9a-f]{2})+/gi
/** A name that is still encoded after so many decodings is none. */
const MOST_DECODINGS = 4

const isDots = (segment: string): boolean => DOTS.test(segment.split(';', 1)[0]!)

/** Throws GatewayError `invalid-request` for what cannot be the name of a model, wherever a request names one (trap 105). */
export function checkModelName(model: string, field = 'model'): void {
  if (!isAddressable(model)) throw invalid(`${field}: must be the name of a model.`, field)
}
