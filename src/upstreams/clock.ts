/**
 * Clock difference above which clouds may refuse signatures and assertions, in milliseconds. Most clouds allow five
 * minutes.
 */
const TOLERANCE = 240_000
const MINUTE = 60_000

/**
 * Returns advice for operators if this machine's clock is so wrong that clouds refuse its signatures. Undefined
 * otherwise, or if the upstream does not send its time.
 *
 * @param date the upstream's `date` header.
 * @param now Unix milliseconds.
 */
export function clockAdvice(date: string, now: number): string | undefined {
  const difference = now - Date.parse(date)
  if (!(Math.abs(difference) > TOLERANCE)) return undefined
  const minutes = Math.round(Math.abs(difference) / MINUTE)
  const direction = difference > 0 ? 'ahead of' : 'behind'
  return `This machine's clock is ${minutes} minutes ${direction} the upstream's: set it by NTP.`
}
