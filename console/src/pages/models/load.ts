import { get } from '../../api/request.ts'
import type { AllOf, Channel, Models } from '../../api/types.ts'

/** Loads all models, or those that a key may call. */
export const loadModels = (key: string | undefined, signal: AbortSignal): Promise<Models> =>
  get<Models>('/models', { key }, signal)

/** Loads the channels, by name. */
export async function loadChannels(signal: AbortSignal): Promise<ReadonlyMap<string, Channel>> {
  const { data } = await get<AllOf<Channel>>('/channels', {}, signal)
  return new Map(data.map(one => [one.name, one]))
}
