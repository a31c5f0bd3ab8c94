import type { Losses } from '../../canonical/loss.ts'

/** The last Unix time that a `Date` can represent, in seconds. */
const LAST_SECOND = 8.64e12

/** The last formatted time. Most answers state the time at which they are written. */
let last = { second: 0, text: '1970-01-01T00:00:00Z' }

/** Formats a Unix time as RFC 3339, without fractions of a second. Returns undefined if it is out of range. */
export function timeText(seconds: number | undefined): string | undefined {
  if (seconds === undefined || !(Math.abs(seconds) <= LAST_SECOND)) return undefined
  const second = Math.floor(seconds)
  if (second !== last.second) last = { second, text: `${new Date(second * 1000).toISOString().slice(0, -5)}Z` }
  return last.text
}

/** Reports the part of an answer's time that `timeText` loses. */
export function reportTime({ createdAt }: { readonly createdAt?: number | undefined }, losses: Losses): void {
  if (createdAt === undefined) return
  if (!(Math.abs(createdAt) <= LAST_SECOND)) losses.drop(['createdAt'], 'no-such-time')
  else if (!Number.isInteger(createdAt)) losses.change(['createdAt'], Math.floor(createdAt), 'whole-seconds')
}
