/** A text within a text that need not be JSON. */
export interface NamedText {
  readonly value: string
  /** Name of its field, or empty in a list. */
  readonly name: string
}

/** Yields the texts of fields with these names, and all texts in their objects and lists, from a text like JSON. */
export function* textsWithin(text: string, names: ReadonlySet<string>): Generator<NamedText> {
  let depth = 0
  /** Depth of the outermost named object or list, or infinite outside of them. */
  let named = Number.POSITIVE_INFINITY
  let name = ''
  for (const { bracket, string = '', isName } of tokensOf(text)) {
    if (isName) name = unescaped(string)
    else if (bracket === undefined) {
      if (depth >= named || names.has(name)) yield { value: unescaped(string), name }
      name = ''
    } else if (bracket === '{' || bracket === '[') {
      depth++
      if (names.has(name)) named = Math.min(named, depth)
      name = ''
    } else {
      if (depth <= named) named = Number.POSITIVE_INFINITY
      depth--
    }
  }
}

/** A bracket, or the content of a string of JSON or of Python, which need not end. */
interface Token {
  readonly bracket?: string
  readonly string?: string
  /** True for a string before a colon. */
  readonly isName?: boolean
}

const COLON = /\s*:/y

/**
 * Yields the brackets and strings of a text in linear time. A single expression for strings would need a stack as deep as
 * a string of many megabytes is long.
 */
function* tokensOf(text: string): Generator<Token> {
  const starts = /["'{}[\]]/g
  for (let start = starts.exec(text); start !== null; start = starts.exec(text)) {
    const [character] = start
    if (character !== '"' && character !== "'") yield { bracket: character }
    else {
      const end = endOfString(text, starts.lastIndex, character)
      COLON.lastIndex = end + 1
      yield { string: text.slice(starts.lastIndex, end), isName: COLON.test(text) }
      starts.lastIndex = end + 1
    }
  }
}

/** Returns the index of the quote that ends a string, or the length of the text. */
function endOfString(text: string, start: number, quote: string): number {
  const marks = quote === '"' ? /["\\]/g : /['\\]/g
  marks.lastIndex = start
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === quote) return mark.index
    marks.lastIndex++
  }
  return text.length
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
