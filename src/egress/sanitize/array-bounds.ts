import type { Losses, Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import { eachSchema } from './each-schema.ts'
import { targetOf } from './recursive-schema.ts'

/*
 * Google repeats the schema of an element for each element that `maxItems` allows, and refuses what becomes too large:
 * "Request contains an invalid argument", from a sum of about 960 texts, or from a few lists of objects
 * (python-genai#2170, vercel/ai#21192, open-historia#790, read on 2026-12-01).
 */

/** Maximum number of schemas in all bounded lists of a request, each counted once per possible element. */
const MAX_ELEMENTS = 500

/** Returns the request with schemas that Google takes: without `maxItems` if the lists could become too large. */
export function withinArrayBounds(request: CanonicalRequest, losses: Losses): CanonicalRequest {
  const { tools, output } = request
  const { text } = output
  const shape = text?.shape === 'schema' ? text.schema : {}
  const parameters = tools?.map(parametersIn) ?? []
  if ([shape, ...parameters].reduce((sum, schema) => sum + elementsIn(schema), 0) <= MAX_ELEMENTS) return request
  const unbounded = (schema: JsonObject, path: Path): JsonObject => {
    const became = eachSchema(schema, withoutMaximum)
    if (became !== schema) losses.change(path, became, 'schema-narrowed')
    return became
  }
  return {
    ...request,
    ...(tools === undefined ? {} : { tools: tools.map((tool, index) => withParameters(tool, index, unbounded)) }),
    ...(text?.shape === 'schema'
      ? { output: { ...output, text: { ...text, schema: unbounded(shape, ['output', 'text', 'schema']) } } }
      : {}),
  }
}

const parametersIn = (tool: Tool): JsonObject => (tool.type === 'function' ? (tool.parameters ?? {}) : {})

function withParameters(tool: Tool, index: number, change: (schema: JsonObject, path: Path) => JsonObject): Tool {
  if (tool.type !== 'function' || tool.parameters === undefined) return tool
  const parameters = change(tool.parameters, ['tools', index, 'parameters'])
  return parameters === tool.parameters ? tool : { ...tool, parameters }
}

function withoutMaximum(schema: JsonObject): JsonObject {
  if (schema['maxItems'] === undefined) return schema
  const { maxItems: _, ...others } = schema
  return others
}

/** Keywords whose schemas count where a reference leads to them. */
const DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions'])

/** Counts the schemas in the bounded lists of a schema. One that refers to itself counts as nothing within itself. */
function elementsIn(root: JsonObject): number {
  const sizes = new Map<Json, number>()
  const elements = new Map<Json, number>()
  /** Returns the number of schemas in a node (`sizes`), or in its bounded lists alone (`elements`). */
  const count = (node: Json | undefined, known: Map<Json, number>): number => {
    if (typeof node !== 'object' || node === null) return 0
    const before = known.get(node)
    if (before !== undefined) return before
    known.set(node, 0)
    const { items, maxItems } = isObject(node) ? node : {}
    const inner =
      typeof maxItems === 'number' && isObject(items)
        ? maxItems * count(items, sizes)
        : childrenOf(node, root).reduce<number>((sum, child) => sum + count(child, known), 0)
    const total = inner + (known === sizes && isObject(node) ? 1 : 0)
    known.set(node, total)
    return total
  }
  return count(root, elements)
}

function childrenOf(node: Json, root: JsonObject): readonly Json[] {
  if (Array.isArray(node)) return node
  const children = Object.entries(node as JsonObject).flatMap(([key, value]) => (DEFINITIONS.has(key) ? [] : [value]))
  const target = targetOf(node, root)
  return target === undefined ? children : [target, ...children]
}
