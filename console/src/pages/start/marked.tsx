/** A text in which some others are marked wherever they are. */
export function Marked({ text, marks }: { readonly text: string; readonly marks: readonly string[] }) {
  const wanted = marks.filter(one => one.length > 3)
  return <>{piecesOf(text, wanted).map((piece, at) => (at % 2 === 0 ? piece : <mark key={at}>{piece}</mark>))}</>
}

/** The pieces between marks and the marks, in turn. */
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
