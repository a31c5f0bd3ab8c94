/** Sets an entry and makes it the newest. Evicts the oldest entry first if the map is full. */
export function putNewest<K, V>(map: Map<K, V>, key: K, value: V, maxEntries: number): void {
  map.delete(key)
  if (map.size >= maxEntries) map.delete(map.keys().next().value!)
  map.set(key, value)
}
