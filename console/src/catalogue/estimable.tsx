import type { Request } from '../api/types.ts'

interface EstimableProps {
  readonly of: Pick<Request, 'estimated'>
  readonly text: string
  /** What an estimate is. */
  readonly title: string
}

/** A figure of a request, marked where it is an estimate: `≈ 1,234`. */
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
