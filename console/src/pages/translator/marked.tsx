import { type Mark, piecesOf } from './marks.ts'

interface MarkedProps {
  readonly text: string
  readonly marks: readonly Mark[]
  /** The loss that is looked at. */
  readonly active: string | undefined
}

/** Characters up to which names and values have colours of their own: a span each is too much for large texts. */
const COLOURED = 30_000

/** A text with what is lost marked in it: nothing but text nodes. */
export const Marked = ({ text, marks, active }: MarkedProps) => (
  <>
    {piecesOf(text, marks).map(({ start, text: piece, mark, ids, isLong }) => {
      const content = text.length > COLOURED ? piece : <Coloured text={piece} />
      if (mark === undefined) return <span key={start}>{content}</span>
      const isActive = active !== undefined && ids.includes(active)
      return (
        <mark
          key={start}
          class={[mark.tone, isLong ? 'long' : '', mark.quiet ? 'quiet' : '', isActive ? 'active' : '']
            .filter(Boolean)
            .join(' ')}
          data-losses={ids.join(' ')}
        >
          {content}
        </mark>
      )
    })}
  </>
)

/** Names of fields, texts, other values, and the fields of events. */
const TOKEN =
  /(?<name>"[^"\\]*(?:\\.[^"\\]*)*"(?=\s*:))|(?<text>"[^"\\]*(?:\\.[^"\\]*)*")|(?<value>\b(?:true|false|null)\b|-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|^(?<field>(?:data|event|id|retry):)/gmsu

function Coloured({ text }: { readonly text: string }) {
  const all = []
  let at = 0
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > at) all.push(text.slice(at, match.index))
    const [kind] = Object.entries(match.groups!).find(([, value]) => value !== undefined)!
    all.push(
      <span key={match.index} class={`t-${kind}`}>
        {match[0]}
      </span>,
    )
    at = match.index + match[0].length
  }
  if (at < text.length) all.push(text.slice(at))
  return <>{all}</>
}
