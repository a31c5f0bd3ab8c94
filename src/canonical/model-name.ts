import { invalid } from './error.ts'
import { percentDecoded } from './text.ts'

/**
 * Returns true if a name may be used in a URL path. Servers and proxies between the gateway and the model may decode a
 * path again, treat a backslash as a slash (WHATWG URL), ignore parameters after a semicolon, trim blanks, or normalise
 * Unicode. A name that has a backslash or a dot segment in any of these readings could lead to another path (RFC 3986,
 * section 5.2.4).
 */
export function isAddressable(name: string): boolean {
  if (name === '') return false
  if (PLAIN.test(name)) return !PLAIN_DOTS.test(name)
  let text = name
  for (let decodings = 0; decodings <= MAX_DECODINGS; decodings++) {
    const read = text.normalize('NFKC')
    if (UNSAFE.test(read) || read.split('/').some(isDots)) return false
    const decoded = text.replace(ESCAPES, percentDecoded)
    if (decoded === text) return true
    text = decoded
  }
  return false
}

/** Matches a name that every server decodes in the same way. */
const PLAIN = /^[\w.:/-]+$/
/** Matches a dot segment of a plain name. */
const PLAIN_DOTS = /(?:^|\/)\.{1,2}(?:\/|$)/
const DOTS = /^\.{1,2}$/
/** Matches backslashes and characters that no model name contains: control characters and line separators. */
const UNSAFE = /[\\\p{Cc}\p{Zl}\p{Zp}]/u
const ESCAPES = /(?:%[0-9a-f]{2})+/gi
/** Maximum number of times a name is decoded. A name that is still percent-encoded afterwards is refused. */
const MAX_DECODINGS = 4

const isDots = (segment: string): boolean => DOTS.test(segment.split(';', 1)[0]!.trim())

/**
 * Checks a model name. Called wherever a request contains a model name (trap 105).
 *
 * @throws GatewayError `invalid-request` for a string that cannot be a model name.
 */
export function checkModelName(model: string, field = 'model'): void {
  if (!isAddressable(model)) throw invalid(`${field}: must be the name of a model.`, field)
}
