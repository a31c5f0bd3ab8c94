import { get } from '../api/request.ts'
import type { Key, PageOf } from '../api/types.ts'

/** Number of keys per page of the API. */
const PAGE = 200
/** Maximum number of pages that are loaded. Keys beyond them cannot be chosen. */
const PAGES = 5

/** Loads the keys to choose from, sorted by name. */
export async function loadKeys(signal: AbortSignal): Promise<readonly Key[]> {
  const keys: Key[] = []
  let cursor: string | undefined
  for (let page = 0; page < PAGES; page++) {
    const { data, next_cursor } = await get<PageOf<Key>>('/keys', { limit: PAGE, cursor }, signal)
    for (const key of data) keys.push(key)
    cursor = next_cursor
    if (cursor === undefined) break
  }
  return keys.sort((one, other) => one.name.localeCompare(other.name))
}
