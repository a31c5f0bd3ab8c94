import type { Json, JsonObject } from '../../canonical/node.ts'
import { eachSchema } from './each-schema.ts'

/*
 * xAI's Responses refuse a tool whose schema has a `pattern` or `format`, as Zod and MCP servers write them, or a slash in
 * an `enum`, such as a list of models: "Invalid arguments passed to the model" (NousResearch/hermes-agent#27575 and
 * #32443, read on 2026-12-01).
 */

/** Returns the schema without the keywords that xAI refuses. The same object if it has none. */
export const xaiSchema = (schema: JsonObject): JsonObject =>
  eachSchema(schema, one => {
    const refused = Object.keys(one).filter(keyword => isRefused(keyword, one[keyword]!))
    return refused.length === 0
      ? one
      : Object.fromEntries(Object.entries(one).filter(([key]) => !refused.includes(key)))
  })

const isRefused = (keyword: string, value: Json): boolean =>
  typeof value === 'string'
    ? keyword === 'pattern' || keyword === 'format'
    : keyword === 'enum' && Array.isArray(value) && value.some(one => typeof one === 'string' && one.includes('/'))
