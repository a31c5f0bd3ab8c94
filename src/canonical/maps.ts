/* Lookups in maps and tables. Two of them replace `Map.getOrInsertComputed` and `Map.groupBy`, which older engines lack. */

/** Returns a row of a table by an untrusted name. Names that every object inherits have none. */
export const rowOf = <T>(table: { readonly [name: string]: T }, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

/** Returns the value of a key. If the key is absent, first creates and adds the value. */
export function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const existing = map.get(key)
  if (existing !== undefined || map.has(key)) return existing as V
  const created = create()
  map.set(key, created)
  return created
}

/** Groups items by key. Groups are in the order of their first items. */
export function grouped<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) getOrAdd(groups, keyOf(item), (): T[] => []).push(item)
  return groups
}
