import { linesOf, type Range } from './text-lines.ts'

/**
 * Returns the ranges of events in a streamed body: data of server-sent events, JSON lines, or items of a JSON array.
 */
export function eventRanges(text: string, contentType: string): readonly Range[] {
  if (!/json/i.test(contentType) || /ndjson/i.test(contentType)) return lineRanges(text)
  return /^\s*\[/.test(text) ? itemRanges(text) : [{ start: 0, end: text.length }]
}

/** Returns the data of each line, or the complete line if it is not a data line. */
const lineRanges = (text: string): readonly Range[] =>
  linesOf(text).map(({ start, end }) => ({ start: start + fieldLength(text, start, end), end }))

const DATA = 'data:'

/** Returns the length of the name of the data field at the start of a line with data, otherwise 0. */
function fieldLength(text: string, start: number, end: number): number {
  if (!text.startsWith(DATA, start)) return 0
  const length = text[start + DATA.length] === ' ' ? DATA.length + 1 : DATA.length
  return [length, DATA.length].find(one => start + one < end) ?? 0
}

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
