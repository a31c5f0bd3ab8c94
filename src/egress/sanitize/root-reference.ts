import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { targetOf } from './recursive-schema.ts'

/**
 * Returns a tool's argument schema without a reference at its top, as `zod-to-json-schema` writes schemas with a name:
 * the keywords of the target stand there instead. The same object if it has none.
 */
export function withoutRootReference(schema: JsonObject): JsonObject {
  const followed = new Set<Json>([schema])
  let out = schema
  while (out['$ref'] !== undefined) {
    const target = targetOf(out, schema)
    const { $ref: _, ...others } = out
    if (!isObject(target) || followed.has(target)) return others
    followed.add(target)
    out = { ...target, ...others }
  }
  return out
}
