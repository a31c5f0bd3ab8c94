import { piecesOf } from './pieces.ts'

/** Highlights every occurrence of the marks in a string. Marks of up to 3 characters are ignored. */
export function Marked({ text, marks }: { readonly text: string; readonly marks: readonly string[] }) {
  const wanted = marks.filter(one => one.length > 3)
  return <>{piecesOf(text, wanted).map((piece, at) => (at % 2 === 0 ? piece : <mark key={at}>{piece}</mark>))}</>
}
