/** Whether one of the patterns is the word; `*` in a pattern stands for any run of characters. */
export const matchesAny = (patterns: readonly string[], word: string): boolean =>
  patterns.some(pattern => matches(pattern, word))

export function matches(pattern: string, word: string): boolean {
  if (pattern === '*' || pattern === word) return true
  const pieces = pattern.split('*')
  if (pieces.length === 1) return false
  const first = pieces[0]!
  const last = pieces.at(-1)!
  if (word.length < first.length + last.length || !word.startsWith(first) || !word.endsWith(last)) return false
  let from = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = word.indexOf(piece, from)
    if (found < 0) return false
    from = found + piece.length
  }
  return from <= word.length - last.length
}
