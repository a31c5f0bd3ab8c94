import type { Format, JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyNumber, anyObject, defined, extrasOf, put } from '../fields.ts'

/*
 * Reads Cohere's `meta`, the same in both versions of its API (docs/wire/rerank.md#meta): billed units (searches or
 * tokens) and the actual token counts.
 */

/** Reads the usage in a `meta`. Counts without a canonical field become extras under their own names. */
export function readMeta(format: Format, meta: JsonObject): Usage {
  const tokens = anyObject(meta['tokens'])
  const billedUnits = anyObject(meta['billed_units'])
  const hasTokens = anyNumber(tokens?.['input_tokens']) !== undefined
  const text = anyNumber((hasTokens ? tokens : billedUnits)?.['input_tokens'])
  // Image tokens are billed separately.
  const image = hasTokens ? undefined : anyNumber(billedUnits?.['image_tokens'])
  const read = {
    input: image === undefined ? text : (text ?? 0) + image,
    inputBy: image === undefined ? undefined : { image },
    output: anyNumber(tokens?.['output_tokens']),
    cacheRead: anyNumber(meta['cached_tokens']),
    searches: anyNumber(billedUnits?.['search_units']),
  }
  const remaining = {
    tokens: tokens && withoutFields(tokens, { input_tokens: hasTokens, output_tokens: read.output !== undefined }),
    billed_units:
      billedUnits &&
      withoutFields(billedUnits, {
        input_tokens: !hasTokens && text !== undefined,
        image_tokens: image !== undefined,
        search_units: read.searches !== undefined,
      }),
  }
  const readFields = new Set([
    ...(tokens === undefined ? [] : ['tokens']),
    ...(billedUnits === undefined ? [] : ['billed_units']),
    ...(read.cacheRead === undefined ? [] : ['cached_tokens']),
  ])
  const extras = { ...extrasOf(format, meta, readFields).extras?.[format], ...nonEmpty(remaining) }
  return { ...defined(read), ...(Object.keys(extras).length === 0 ? {} : { extras: { [format]: extras } }) }
}

const withoutFields = (wire: JsonObject, readFields: { readonly [field: string]: boolean }): JsonObject =>
  Object.fromEntries(Object.entries(wire).filter(([field]) => readFields[field] !== true)) as JsonObject

/** Returns the objects that are not empty. */
function nonEmpty(objects: { readonly [field: string]: JsonObject | undefined }): JsonObject {
  const out: { [field: string]: JsonObject } = {}
  for (const [field, object] of Object.entries(objects))
    if (object !== undefined && Object.keys(object).length > 0) put(out, field, object)
  return out
}
