import { isObject, type Json, type JsonObject } from './node.ts'
import type { Usage } from './result.ts'

/**
 * What several requests spent together; undefined where there are none. A count some of them do not tell is the sum of
 * those that do, and how one of them spelled its counts is not true of all.
 */
export function totalUsage(usages: readonly Usage[]): Usage | undefined {
  if (usages.length === 0) return undefined
  const totals = usages.some(({ total }) => total !== undefined)
  const { total, ...counts } = usages
    .map(one => bare(totals ? { ...one, total: totalOf(one) } : one))
    .reduce(sum) as Usage
  return total === undefined || total === bothOf(counts) ? counts : { ...counts, total }
}

const bothOf = ({ input = 0, output = 0 }: Usage): number => input + output
const totalOf = (usage: Usage): number => usage.total ?? bothOf(usage)

const bare = ({ spelling: _, ...counts }: Usage): JsonObject => counts as JsonObject

function sum(a: JsonObject, b: JsonObject): JsonObject {
  const added = (left: Json | undefined, right: Json | undefined): Json => {
    if (typeof left === 'number' && typeof right === 'number') return left + right
    return isObject(left) && isObject(right) ? sum(left, right) : (left ?? right ?? null)
  }
  return Object.fromEntries(Object.keys({ ...a, ...b }).map(key => [key, added(a[key], b[key])]))
}
