/** A range of a text. The end is exclusive. */
export interface Range {
  readonly start: number
  readonly end: number
}

/**
 * Returns the ranges of all lines that are not empty. A regular expression that matches whole lines can exceed the
 * engine's stack for a line of many megabytes.
 */
export function linesOf(text: string): readonly Range[] {
  const lines: Range[] = []
  let start = 0
  for (const { index } of text.matchAll(/[\r\n]/g)) {
    if (index > start) lines.push({ start, end: index })
    start = index + 1
  }
  if (text.length > start) lines.push({ start, end: text.length })
  return lines
}
