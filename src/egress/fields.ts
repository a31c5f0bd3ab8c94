import type { Format, JsonObject, Node } from '../canonical/node.ts'

export { defined, someOf } from '../canonical/node.ts'

const NONE: JsonObject = {}

/** The fields of this node that a format has beyond canonical. Spread it last. */
export const kept = (node: Node | undefined, format: Format): JsonObject => node?.extras?.[format] ?? NONE

/** The fields of an object as text that follows other fields. */
export function inside(fields: JsonObject): string {
  const text = JSON.stringify(fields).slice(1, -1)
  return text === '' ? '' : `,${text}`
}

/** How the format spelled this node, if the node was read from it. */
export const spelt = (node: Node | undefined, format: Format): JsonObject => node?.spelling?.[format] ?? NONE
