import type { Request } from '../api/types.ts'

interface EstimableProps {
  readonly of: Pick<Request, 'estimated'>
  readonly text: string
  /** Explanation of the estimate, for the tooltip and screen readers. */
  readonly title: string
}

/** A figure of a request, with `≈` before it if the gateway estimated it: `≈ 1,234`. */
export const Estimable = ({ of, text, title }: EstimableProps) =>
  of.estimated === true ? (
    <span title={title}>
      <span aria-hidden="true">≈ </span>
      {text}
      <span class="unseen"> {title}</span>
    </span>
  ) : (
    <span>{text}</span>
  )
