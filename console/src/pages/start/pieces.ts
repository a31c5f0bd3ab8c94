/** Splits a string at the marks: text and marks alternate, beginning and ending with text. */
export function piecesOf(text: string, marks: readonly string[]): readonly string[] {
  const pieces: string[] = []
  let rest = text
  for (;;) {
    const places = marks.map(mark => ({ mark, at: rest.indexOf(mark) })).filter(({ at }) => at >= 0)
    const next = places.toSorted((one, other) => one.at - other.at || other.mark.length - one.mark.length)[0]
    if (next === undefined) return [...pieces, rest]
    pieces.push(rest.slice(0, next.at), next.mark)
    rest = rest.slice(next.at + next.mark.length)
  }
}
