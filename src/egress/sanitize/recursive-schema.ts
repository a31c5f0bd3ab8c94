import { pointerKeys } from '../../canonical/json-schema.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'

/** Returns true if a schema refers to itself, directly or through its definitions. Visits each subschema once. */
export function isRecursive(root: JsonObject): boolean {
  const open = new Set<Json>()
  const visited = new Set<Json>()
  const leadsBack = (node: Json | undefined): boolean => {
    if (typeof node !== 'object' || node === null) return false
    if (open.has(node)) return true
    if (visited.has(node)) return false
    visited.add(node)
    open.add(node)
    const isBack = leadsBack(targetOf(node, root)) || Object.values(node).some(leadsBack)
    open.delete(node)
    return isBack
  }
  return leadsBack(root)
}

/** Returns the part of the schema to which a reference points, or undefined for any other node. */
export function targetOf(node: Json, root: JsonObject): Json | undefined {
  const reference = isObject(node) ? node['$ref'] : undefined
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined
  let target: Json | undefined = root
  for (const key of pointerKeys(reference)) {
    target =
      typeof target === 'object' && target !== null && Object.hasOwn(target, key)
        ? (target as JsonObject)[key]
        : undefined
  }
  return target
}
