/** Responses of a session that run at once, beyond which the oldest are forgotten: an upstream may begin and never end them. */
export const MOST_RUNNING = 64

/** Adds to a set that does not grow beyond `most`. */
export function addBounded(set: Set<string>, value: string, most: number): void {
  set.add(value)
  if (set.size > most) set.delete(set.values().next().value!)
}
