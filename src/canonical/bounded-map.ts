/** Sets an entry and makes it the newest. If the map would then exceed `most` entries, evicts the oldest one first. */
export function putNewest<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key)
  if (map.size >= most) map.delete(map.keys().next().value!)
  map.set(key, value)
}
