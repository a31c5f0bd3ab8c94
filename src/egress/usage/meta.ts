import type { Losses, Unwritten } from '../../canonical/loss.ts'
import { type Format, isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { defined, kept } from '../fields.ts'

const NO_PLACE: Unwritten<Usage, 'input' | 'cacheRead' | 'output' | 'inputBy' | 'searches'> = {
  cacheWrite: 'not-in-meta',
  reasoning: 'not-in-meta',
  outputBy: 'not-in-meta',
  hostedCalls: 'not-in-meta',
}

/** Usage as Cohere's `meta` (FORMATS §9). */
export function writeMeta(format: Format, usage: Usage, losses: Losses): JsonObject {
  losses.dropFields(usage, ['usage'], NO_PLACE)
  const { tokens: moreTokens, billed_units: moreBilled, ...outer } = kept(usage, format)
  const { input, output, cacheRead, searches } = usage
  const image = pictureTokens(usage)
  for (const kind in usage.inputBy)
    if (kind !== 'image' || image === undefined) losses.drop(['usage', 'inputBy', kind], 'not-in-meta')
  const billed = defined({
    input_tokens: input === undefined ? undefined : input - (image ?? 0),
    image_tokens: image,
    search_units: searches,
  })
  return {
    ...outer,
    ...group('billed_units', billed, moreBilled),
    ...group('tokens', defined({ output_tokens: output }), moreTokens),
    ...defined({ cached_tokens: cacheRead }),
  }
}

/** The tokens of images, which are billed apart from the others. */
function pictureTokens({ input, inputBy }: Usage): number | undefined {
  const image = inputBy?.image
  return image !== undefined && input !== undefined && image <= input ? image : undefined
}

/** The group where it has fields; a value that is no group stays where there are no fields to write. */
function group(name: string, own: JsonObject, more: Json | undefined): JsonObject {
  if (isObject(more)) return { [name]: { ...more, ...own } }
  if (Object.keys(own).length > 0) return { [name]: own }
  return more === undefined ? {} : { [name]: more }
}
