import type { ComponentChildren } from 'preact'

/** Meaning of a badge's colour. */
export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent'

interface BadgeProps {
  readonly tone?: Tone
  readonly title?: string | undefined
  /** Shows a dot before the text, for states. */
  readonly dot?: boolean
  readonly children: ComponentChildren
}

/** A short label on a coloured background. */
export const Badge = ({ tone = 'neutral', title, dot, children }: BadgeProps) => (
  <span class={`badge ${tone}`} title={title}>
    {dot && <span class="dot" />}
    {children}
  </span>
)
