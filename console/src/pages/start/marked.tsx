import { piecesOf } from './pieces.ts'

/** A text in which some others are marked wherever they are. */
export function Marked({ text, marks }: { readonly text: string; readonly marks: readonly string[] }) {
  const wanted = marks.filter(one => one.length > 3)
  return <>{piecesOf(text, wanted).map((piece, at) => (at % 2 === 0 ? piece : <mark key={at}>{piece}</mark>))}</>
}
