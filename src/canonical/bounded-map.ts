/** Sets an entry and makes it the newest. Evicts the oldest entry first if the map would exceed `most` entries. */
export function putNewest<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key)
  if (map.size >= most) map.delete(map.keys().next().value!)
  map.set(key, value)
}
