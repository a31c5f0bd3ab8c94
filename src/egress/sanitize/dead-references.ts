import type { JsonObject } from '../../canonical/node.ts'
import { eachSchema } from './each-schema.ts'
import { targetOf } from './recursive-schema.ts'

/*
 * References whose target the schema lacks, such as those of MCP servers made from OpenAPI. Claude refuses all tools of a
 * request for one: "Invalid $ref in schema: '#/$defs/Category' does not exist" (microsoft/vscode#286415,
 * anyproto/anytype-mcp#21, read on 2026-12-01). No vendor fetches remote ones.
 */

/** Returns the schema without references that lead nowhere. The same object if it has none. */
export const withoutDeadReferences = (root: JsonObject): JsonObject =>
  eachSchema(root, schema => {
    const { $ref: reference, ...others } = schema
    return reference === undefined || targetOf(schema, root) !== undefined ? schema : others
  })
