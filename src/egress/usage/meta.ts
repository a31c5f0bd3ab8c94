import type { Losses, Unwritten } from '../../canonical/loss.ts'
import { type Format, isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { defined, kept, spelt } from '../fields.ts'

const NO_PLACE: Unwritten<Usage, 'input' | 'cacheRead' | 'output' | 'inputBy' | 'searches'> = {
  cacheWrite: 'not-told-in-meta',
  reasoning: 'not-told-in-meta',
  outputBy: 'not-told-in-meta',
  hostedCalls: 'not-told-in-meta',
}

/** Usage as Cohere's `meta` (FORMATS §9). */
export function writeMeta(format: Format, usage: Usage, losses: Losses): JsonObject {
  losses.dropFields(usage, ['usage'], NO_PLACE)
  const { counted, pictured, tokens: hasTokens, billed: hasBilled } = spelt(usage, format)
  const { tokens: moreTokens, billed_units: moreBilled, ...outer } = kept(usage, format)
  const { input, output, cacheRead, searches } = usage
  const image = counted === true ? undefined : pictureTokens(usage, pictured !== undefined)
  for (const kind in usage.inputBy)
    if (kind !== 'image' || image === undefined) losses.drop(['usage', 'inputBy', kind], 'not-told-in-meta')
  const text = pictured === 'alone' ? undefined : input === undefined ? undefined : input - (image ?? 0)
  const tokens = defined({ input_tokens: counted === true ? input : undefined, output_tokens: output })
  const billed = defined({
    input_tokens: counted === true ? undefined : text,
    image_tokens: image,
    search_units: searches,
  })
  return {
    ...outer,
    ...group('billed_units', billed, moreBilled, hasBilled === true),
    ...group('tokens', tokens, moreTokens, hasTokens === true),
    ...defined({ cached_tokens: cacheRead }),
  }
}

/** The tokens of images, which are billed apart from the others. */
function pictureTokens({ input, inputBy }: Usage, wasReported: boolean): number | undefined {
  const image = inputBy?.image
  return image !== undefined && input !== undefined && (wasReported || image <= input) ? image : undefined
}

/** The group where it has fields, or came empty; a value that is no group stays where there are no fields to write. */
function group(name: string, own: JsonObject, more: Json | undefined, there: boolean): JsonObject {
  const isWritten = there || Object.keys(own).length > 0
  if (isObject(more)) return { [name]: { ...own, ...more } }
  if (isWritten) return { [name]: own }
  return more === undefined ? {} : { [name]: more }
}
