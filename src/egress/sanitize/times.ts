import type { Losses } from '../../canonical/loss.ts'

/** The last Unix time that a `Date` can represent, in seconds. */
const LAST_SECOND = 8.64e12

/** Formats a Unix time as RFC 3339, without fractions of a second. Returns undefined if it is out of range. */
export const timeText = (seconds: number | undefined): string | undefined =>
  seconds === undefined || !(Math.abs(seconds) <= LAST_SECOND)
    ? undefined
    : `${new Date(Math.floor(seconds) * 1000).toISOString().slice(0, -5)}Z`

/** Reports the part of an answer's time that `timeText` loses. */
export function reportTime({ createdAt }: { readonly createdAt?: number | undefined }, losses: Losses): void {
  if (createdAt === undefined) return
  if (!(Math.abs(createdAt) <= LAST_SECOND)) losses.drop(['createdAt'], 'no-such-time')
  else if (!Number.isInteger(createdAt)) losses.change(['createdAt'], Math.floor(createdAt), 'whole-seconds')
}
