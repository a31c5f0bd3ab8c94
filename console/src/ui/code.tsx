import { Copy } from './copy.tsx'

interface CodeProps {
  readonly text: string
  /** Heading of the block and its name for screen readers. */
  readonly label: string
  readonly wrap?: boolean
  readonly hideLabel?: boolean
}

/** A block of code with a copy button. */
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
