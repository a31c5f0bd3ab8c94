/** A range of a text. The end is exclusive. */
export interface Range {
  readonly start: number
  readonly end: number
}

/**
 * Returns the ranges of events in a streamed body: data of server-sent events, JSON lines, or items of a JSON array.
 */
export function eventRanges(text: string, contentType: string): readonly Range[] {
  if (!/json/i.test(contentType) || /ndjson/i.test(contentType)) return lineRanges(text)
  return /^\s*\[/.test(text) ? itemRanges(text) : [{ start: 0, end: text.length }]
}

/** Returns the data of each line, or the complete line if it is not a data line. */
const lineRanges = (text: string): readonly Range[] =>
  [...text.matchAll(/^(data: ?)?([^\r\n]+)/gm)].map(({ index, 0: line, 1: name = '' }) => ({
    start: index + name.length,
    end: index + line.length,
  }))

/** Matches a string, which may be truncated, or a bracket. It always matches at a quote, so that a search is linear. */
const TOKEN = /"[^"\\]*(?:\\.?[^"\\]*)*"?|[[\]{}]/gs

/** Returns the items of a JSON array, which may be truncated. */
function itemRanges(text: string): readonly Range[] {
  const ranges: Range[] = []
  let depth = 0
  let start = 0
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      depth++
      if (depth === 2) start = index
    } else if (token === '}' || token === ']') {
      depth--
      if (depth === 1) ranges.push({ start, end: index + 1 })
    }
  }
  return ranges
}
