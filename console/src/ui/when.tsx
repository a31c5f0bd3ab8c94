import { ago, time } from '../format.ts'
import { common } from '../i18n/common.ts'

interface WhenProps {
  readonly at: string | undefined
  /** How long ago, instead of the time. */
  readonly relative?: boolean
}

/** An instant in the reader's time zone, with all of it on hover. */
export const When = ({ at, relative }: WhenProps) =>
  at === undefined ? (
    <span class="faint">{common().never}</span>
  ) : (
    <time dateTime={at} title={time(at, 'full')}>
      {relative ? ago(at) : time(at)}
    </time>
  )
