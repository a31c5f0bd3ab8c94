import { isFull, type RoutedChannel, rests } from './channel-health.ts'
import { drawOf } from './draw.ts'

/**
 * Maximum number of a channel's resting keys that one request tries. A pool may have dozens of keys, and all of them
 * may rest.
 */
const MAX_RESTING_KEYS = 2

/** A key of a pool that a request may try. */
export interface AvailableKey {
  readonly key: RoutedChannel
  /** True if the key or its model rests. */
  readonly resting: boolean
  /** True for the key of the request's conversation, which may be resting. */
  readonly isDrawn: boolean
}

/** Returns true if every key of the pool has reached its own limits. */
export const areAllFull = (keys: readonly RoutedChannel[]): boolean =>
  keys.every(({ health, config }) => isFull(health, config))

/**
 * Returns the keys of a pool in the order in which a request tries them: first keys that do not rest, by a weighted
 * draw, then the resting keys whose rest ends first. Keys that have reached their own limits are not tried.
 *
 * @param draw selects the key. Equal strings select the same key.
 */
export function availableKeys(
  keys: readonly RoutedChannel[],
  { draw, upstreamModel, now }: { readonly draw: string; readonly upstreamModel: string; readonly now: number },
): readonly AvailableKey[] {
  const drawByKey = new Map(keys.map(key => [key, drawFor(key, draw)]))
  const drawnKey = keys.reduce((best, key) => (drawByKey.get(key)! < drawByKey.get(best)! ? key : best))
  const usable = keys.filter(({ health, config }) => !isFull(health, config))
  const [resting, awake] = [true, false].map(wanted =>
    usable.filter(({ health }) => rests(health, upstreamModel, now) === wanted),
  ) as [RoutedChannel[], RoutedChannel[]]
  const ordered = [
    ...awake.sort((a, b) => drawByKey.get(a)! - drawByKey.get(b)!),
    ...resting.sort((a, b) => endOf(a, upstreamModel) - endOf(b, upstreamModel)).slice(0, MAX_RESTING_KEYS),
  ]
  return ordered.map((key, index) => ({ key, resting: index >= awake.length, isDrawn: key === drawnKey }))
}

/** Returns the key's random number. It is independent of the draw that selected the channel. */
const drawFor = ({ config: { name, weight, pooled } }: Pick<RoutedChannel, 'config'>, draw: string): number =>
  drawOf(draw, `${name}\n${pooled?.id}`, weight)

/** Returns the end of the key's rest, in Unix milliseconds. */
const endOf = ({ health: { restingUntil = 0, resting } }: RoutedChannel, upstreamModel: string): number =>
  Math.max(restingUntil, resting?.get(upstreamModel) ?? 0)
