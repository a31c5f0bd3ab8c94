import { Copy } from '../../ui/copy.tsx'
import { Icon } from '../../ui/icon.tsx'
import type { Snippet } from './clients/client.ts'
import { Marked } from './marked.tsx'
import { text } from './texts.ts'

interface SnippetViewProps {
  readonly of: Snippet
  /** Name of the client, for screen readers. */
  readonly client: string
  /** Filled-in values, which are highlighted. */
  readonly marks: readonly string[]
}

/** One snippet with its file name or role as the heading. */
export function SnippetView({ of, client, marks }: SnippetViewProps) {
  const words = text()
  const place = of.file ?? words.terminal
  const label = words.snippet(client, of.role === undefined ? place : `${words.roles[of.role]}, ${place}`)
  return (
    <figure class="code snippet">
      <figcaption>
        <span class="place">
          <Icon name={of.file === undefined ? 'right' : 'edit'} size={14} />
          {of.role && <strong>{words.roles[of.role]}</strong>}
          <span class={of.file === undefined ? undefined : 'mono'}>{place}</span>
        </span>
        <Copy text={of.text} what={label} kind="plain" small />
      </figcaption>
      <pre
        tabIndex={0}
        role="region"
        aria-label={label}
        data-syntax={of.syntax}
        data-role={of.role}
        data-file={of.file}
      >
        <code>
          <Marked text={of.text} marks={marks} />
        </code>
      </pre>
    </figure>
  )
}
