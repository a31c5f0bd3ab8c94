/** A range of a text, end exclusive. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Returns where the events of a streamed body are: data of server-sent events, JSON lines, or items of a JSON array. */
export function eventRanges(text: string, contentType: string): readonly Range[] {
  if (!/json/i.test(contentType) || /ndjson/i.test(contentType)) return lineRanges(text)
  return /^\s*\[/.test(text) ? itemRanges(text) : [{ start: 0, end: text.length }]
}

/** The data of each line, or the whole line if it is no data. */
const lineRanges = (text: string): readonly Range[] =>
  [...text.matchAll(/^(data: ?)?([^\r\n]+)/gm)].map(({ index, 0: line, 1: name = '' }) => ({
    start: index + name.length,
    end: index + line.length,
  }))

/** The items of a JSON array, which may end early. */
function itemRanges(text: string): readonly Range[] {
  const ranges: Range[] = []
  let depth = 0
  let start = 0
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
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
