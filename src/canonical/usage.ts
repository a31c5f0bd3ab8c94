import { isObject, type Json, type JsonObject } from './node.ts'
import type { Usage } from './result.ts'

/**
 * What several requests spent together; undefined where there are none. A count some of them do not tell is the sum of
 * those that do, and how one of them spelled its counts is not true of all.
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
