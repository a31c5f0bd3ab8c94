import { isObject, type Json, type JsonObject } from './node.ts'
import type { Usage } from './result.ts'

/**
 * The sum of several requests' usage; undefined where there are none. A count that some of them lack is the sum of the
 * others; spelling is dropped, as it holds for single requests only.
 */
export const totalUsage = (usages: readonly Usage[]): Usage | undefined =>
  usages.length === 0 ? undefined : (usages.map(bare).reduce(sum) as Usage)

const bare = ({ spelling: _, ...counts }: Usage): JsonObject => counts as JsonObject

function sum(a: JsonObject, b: JsonObject): JsonObject {
  const added = (left: Json | undefined, right: Json | undefined): Json => {
    if (typeof left === 'number' && typeof right === 'number') return left + right
    return isObject(left) && isObject(right) ? sum(left, right) : (left ?? right ?? null)
  }
  return Object.fromEntries(Object.keys({ ...a, ...b }).map(key => [key, added(a[key], b[key])]))
}
