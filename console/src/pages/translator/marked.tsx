import { type Mark, piecesOf } from './marks.ts'

interface MarkedProps {
  readonly text: string
  readonly marks: readonly Mark[]
  /** Id of the highlighted loss. */
  readonly active: string | undefined
}

/**
 * Maximum length of a text with syntax colours, in characters. Longer texts have none, because one span per token is
 * too slow.
 */
const COLOURED = 30_000

/** A text with its losses marked. All content becomes text nodes, never markup. */
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

/** Tokens for syntax colours: field names, strings, other values, and field names of events. */
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
