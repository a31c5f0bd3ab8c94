import { type Format, type Json, type JsonObject, type Node, put } from '../canonical/node.ts'

export { defined } from '../canonical/node.ts'

const NONE: JsonObject = {}

/** The fields of this node that a format has beyond canonical: unknown fields, and nulls. Spread it last. */
export function kept(node: Node | undefined, format: Format): JsonObject {
  const extras = node?.extras?.[format]
  const nulls = node?.spelling?.[format]?.['nulls'] as readonly string[] | undefined
  if (nulls === undefined) return extras ?? NONE
  const out: { [key: string]: Json } = { ...extras }
  for (const key of nulls) put(out, key, null)
  return out
}

/** How the format spelled this node, if the node was read from it. */
export const spelt = (node: Node | undefined, format: Format): JsonObject => node?.spelling?.[format] ?? NONE
