import { defined, type JsonObject } from '../../canonical/node.ts'
import type { ModelFacts } from '../../config/types.ts'

/** Formats the prices of a model with the names of the config file. */
export const priceView = (price: NonNullable<ModelFacts['price']>) => {
  const { cacheRead, cacheWrite, videoSecond, sessionMinute, ...others } = price
  return defined({
    ...others,
    ...{ cache_read: cacheRead, cache_write: cacheWrite },
    ...{ video_second: videoSecond, session_minute: sessionMinute },
  }) satisfies JsonObject
}
