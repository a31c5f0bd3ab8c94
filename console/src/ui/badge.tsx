import type { ComponentChildren } from 'preact'

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent'

interface BadgeProps {
  readonly tone?: Tone
  readonly title?: string | undefined
  /** With a dot, for states. */
  readonly dot?: boolean
  readonly children: ComponentChildren
}

export const Badge = ({ tone = 'neutral', title, dot, children }: BadgeProps) => (
  <span class={`badge ${tone}`} title={title}>
    {dot && <span class="dot" />}
    {children}
  </span>
)
