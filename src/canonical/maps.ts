/* Functions of newer engines that the library's oldest engines lack. */

/** Returns the value of a key. Creates and adds it if the map has none. */
export function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const found = map.get(key)
  if (found !== undefined || map.has(key)) return found as V
  const created = create()
  map.set(key, created)
  return created
}

/** Groups items by a key, in the order of their first appearance. */
export function grouped<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) getOrAdd(groups, keyOf(item), (): T[] => []).push(item)
  return groups
}
