import type { Format, JsonObject, Node } from '../canonical/node.ts'

export { defined, definedIfAny } from '../canonical/node.ts'

const NO_FIELDS: JsonObject = {}

/** Returns a node's `extras` for the format: fields without a canonical counterpart. Spread them last. */
export const extrasFor = (node: Node | undefined, format: Format): JsonObject => node?.extras?.[format] ?? NO_FIELDS

/** Returns the object's fields as JSON text with a leading comma and without braces, for appending to other fields. */
export function appendedFields(fields: JsonObject): string {
  const text = JSON.stringify(fields).slice(1, -1)
  return text === '' ? '' : `,${text}`
}

/** Returns a node's `spelling` in the format: the way the caller wrote the node. */
export const spellingFor = (node: Node | undefined, format: Format): JsonObject => node?.spelling?.[format] ?? NO_FIELDS

/** Writes a node as `{ type: field, [field]: inside }`, with the format's extras on both levels. */
export function around(format: Format, node: Node, field: string, inside: JsonObject): JsonObject {
  const { [field]: innerExtras, ...outer } = extrasFor(node, format)
  return { type: field, [field]: { ...inside, ...(innerExtras as JsonObject | undefined) }, ...outer }
}
