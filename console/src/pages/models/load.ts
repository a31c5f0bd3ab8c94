import { get } from '../../api/request.ts'
import type { AllOf, Channel, Key, Models, PageOf } from '../../api/types.ts'

/** Keys in a page of the API, and pages that are loaded at most: more cannot be chosen from. */
const PAGE = 200
const PAGES = 5

/** Keys to choose from, by their names. */
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

/** All models, or those that a key can call. */
export const loadModels = (key: string | undefined, signal: AbortSignal): Promise<Models> =>
  get<Models>('/models', { key }, signal)

/** Channels by their names. */
export async function loadChannels(signal: AbortSignal): Promise<ReadonlyMap<string, Channel>> {
  const { data } = await get<AllOf<Channel>>('/channels', {}, signal)
  return new Map(data.map(one => [one.name, one]))
}
