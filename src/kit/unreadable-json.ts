/** A text within a text that need not be JSON. */
export interface NamedText {
  readonly value: string
  /** Name of its field, or empty in a list. */
  readonly name: string
}

/**
 * Matches a string of JSON or of Python, which need not end, with the colon of a field's name, and brackets. The strings
 * match whatever follows, so that the search takes linear time.
 */
const TOKENS = /(?:"((?:[^"\\]|\\.?)*)"?|'((?:[^'\\]|\\.?)*)'?)(\s*:)?|[{}[\]]/gs

/** Yields the texts of fields with these names, and all texts in their objects and lists, from a text like JSON. */
export function* textsWithin(text: string, names: ReadonlySet<string>): Generator<NamedText> {
  let depth = 0
  /** Depth of the outermost named object or list, or infinite outside of them. */
  let named = Number.POSITIVE_INFINITY
  let name = ''
  for (const [token, double, single, colon] of text.matchAll(TOKENS)) {
    const string = double ?? single
    if (string !== undefined && colon !== undefined) name = unescaped(string)
    else if (string !== undefined) {
      if (depth >= named || names.has(name)) yield { value: unescaped(string), name }
      name = ''
    } else if (token === '{' || token === '[') {
      depth++
      if (names.has(name)) named = Math.min(named, depth)
      name = ''
    } else {
      if (depth <= named) named = Number.POSITIVE_INFINITY
      depth--
    }
  }
}

/** Returns what the content of a string of JSON means, or the content itself if it is none. */
function unescaped(content: string): string {
  if (!content.includes('\\')) return content
  try {
    return JSON.parse(`"${content}"`) as string
  } catch {
    return content
  }
}
