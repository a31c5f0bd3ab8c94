import { Copy } from './copy.tsx'

interface CodeProps {
  readonly text: string
  /** What it is, for screen readers and as a heading. */
  readonly label: string
  readonly wrap?: boolean
  readonly hideLabel?: boolean
}

/** Text to paste elsewhere. */
export const Code = ({ text, label, wrap, hideLabel }: CodeProps) => (
  <figure class="code">
    <figcaption>
      <span class={hideLabel ? 'unseen' : undefined}>{label}</span>
      <Copy text={text} what={label} kind="plain" small />
    </figcaption>
    <pre class={wrap ? 'wrap' : undefined} tabIndex={0} role="region" aria-label={label}>
      <code>{text}</code>
    </pre>
  </figure>
)
