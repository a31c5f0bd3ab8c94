import type { Losses } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { ResponsesDialect } from '../../formats/dialects/responses.ts'
import type { BodyChanges } from '../native.ts'
import { SUBSETS } from '../sanitize/schema-subsets.ts'

/**
 * Returns the changed fields of a native body: its functions, if the upstream refuses the schema of any. Codex sends the
 * schemas of MCP servers as they are.
 */
export function withLegalTools(
  { tools }: JsonObject,
  { schemas = 'any' }: ResponsesDialect,
  losses: Losses,
): BodyChanges {
  if (schemas === 'any' || !Array.isArray(tools)) return {}
  const legalTools = tools.map((tool: Json, index) => {
    if (!isObject(tool) || tool['type'] !== 'function' || !isObject(tool['parameters'])) return tool
    const legalSchema = SUBSETS[schemas](tool['parameters'])
    if (legalSchema === tool['parameters']) return tool
    losses.change(['tools', index, 'parameters'], legalSchema, 'schema-made-legal')
    return { ...tool, parameters: legalSchema }
  })
  return legalTools.every((tool, index) => tool === tools[index]) ? {} : { tools: legalTools }
}
