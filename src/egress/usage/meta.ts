import type { Losses, Unwritten } from '../../canonical/loss.ts'
import { type Format, isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { defined, extrasFor } from '../fields.ts'

const META_LOSSES: Unwritten<Usage, 'input' | 'cacheRead' | 'output' | 'inputBy' | 'searches'> = {
  cacheWrite: 'not-in-meta',
  reasoning: 'not-in-meta',
  outputBy: 'not-in-meta',
  hostedCalls: 'not-in-meta',
}

/** Writes usage as Cohere's `meta` (docs/wire/rerank.md#meta). */
export function writeMeta(format: Format, usage: Usage, losses: Losses): JsonObject {
  losses.dropFields(usage, ['usage'], META_LOSSES)
  const { tokens: moreTokens, billed_units: moreBilled, ...outer } = extrasFor(usage, format)
  const { input, output, cacheRead, searches } = usage
  const image = imageTokens(usage)
  for (const kind in usage.inputBy)
    if (kind !== 'image' || image === undefined) losses.drop(['usage', 'inputBy', kind], 'not-in-meta')
  const billedUnits = defined({
    input_tokens: input === undefined ? undefined : input - (image ?? 0),
    image_tokens: image,
    search_units: searches,
  })
  return {
    ...outer,
    ...mergedGroup('billed_units', billedUnits, moreBilled),
    ...mergedGroup('tokens', defined({ output_tokens: output }), moreTokens),
    ...defined({ cached_tokens: cacheRead }),
  }
}

/**
 * Returns the number of image tokens, which Cohere bills separately from text, or undefined if it is unknown or exceeds
 * the input.
 */
function imageTokens({ input, inputBy }: Usage): number | undefined {
  const image = inputBy?.image
  return image !== undefined && input !== undefined && image <= input ? image : undefined
}

/**
 * Writes a group of counts, merged with the upstream's extras. An extra that is not an object is only kept if there are
 * no counts.
 */
function mergedGroup(name: string, fields: JsonObject, more: Json | undefined): JsonObject {
  if (isObject(more)) return { [name]: { ...more, ...fields } }
  if (Object.keys(fields).length > 0) return { [name]: fields }
  return more === undefined ? {} : { [name]: more }
}
