import type { Losses } from '../../canonical/loss.ts'

/** As many stop sequences as the format takes, the first ones (FORMATS §16.1). */
export function fewStops(
  stop: readonly string[] | undefined,
  most: number,
  losses: Losses,
): readonly string[] | undefined {
  if (stop === undefined || stop.length <= most) return stop
  for (let index = most; index < stop.length; index++) losses.drop(['sampling', 'stop', index], `${most}-stops-only`)
  return stop.slice(0, most)
}
