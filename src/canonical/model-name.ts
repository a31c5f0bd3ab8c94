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
  if (PLAIN_NAME.test(name)) return !PLAIN_DOT_SEGMENT.test(name)
  let text = name
  for (let decodings = 0; decodings <= MAX_DECODINGS; decodings++) {
    const normalizedText = text.normalize('NFKC')
    if (UNSAFE_CHARACTERS.test(normalizedText) || normalizedText.split('/').some(isDotSegment)) return false
    const decoded = text.replace(PERCENT_ESCAPES, percentDecoded)
    if (decoded === text) return true
    text = decoded
  }
  return false
}

/** Matches a name that every server decodes in the same way. */
const PLAIN_NAME = /^[\w.:/-]+$/
/** Matches a dot segment of a plain name. */
const PLAIN_DOT_SEGMENT = /(?:^|\/)\.{1,2}(?:\/|$)/
const DOT_SEGMENT = /^\.{1,2}$/
/** Matches backslashes and characters that no model name contains: control characters and line separators. */
const UNSAFE_CHARACTERS = /[\\\p{Cc}\p{Zl}\p{Zp}]/u
const PERCENT_ESCAPES = /(?:%[0-9a-f]{2})+/gi
/** Maximum number of times a name is decoded. A name that is still percent-encoded afterwards is refused. */
const MAX_DECODINGS = 4

const isDotSegment = (segment: string): boolean => DOT_SEGMENT.test(segment.split(';', 1)[0]!.trim())

/**
 * Checks a model name. Called wherever a request contains a model name (trap 105).
 *
 * @throws GatewayError `invalid-request` for a string that cannot be a model name.
 */
export function checkModelName(model: string, field = 'model'): void {
  if (!isAddressable(model)) throw invalid(`${field}: must be the name of a model.`, field)
}
