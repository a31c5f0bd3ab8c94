import { ago, time } from '../format.ts'
import { common } from '../i18n/common.ts'

interface WhenProps {
  readonly at: string | undefined
  /** Shows the time relative to now. */
  readonly relative?: boolean
}

/** A time in the browser's time zone, with the full date as a tooltip. “Never” for undefined. */
export const When = ({ at, relative }: WhenProps) =>
  at === undefined ? (
    <span class="faint">{common().never}</span>
  ) : (
    <time dateTime={at} title={time(at, 'full')}>
      {relative ? ago(at) : time(at)}
    </time>
  )
