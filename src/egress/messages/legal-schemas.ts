import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { BodyChanges } from '../native.ts'
import { argumentSchema } from '../sanitize/closed-schema.ts'
import { kimiSchema } from '../sanitize/kimi-schema.ts'
import type { WriteContext } from './context.ts'

/**
 * Returns the changed fields of a native body: its tools, if the upstream refuses the schema of any. Claude Code sends
 * the schemas of MCP servers as they are.
 */
export function withLegalSchemas(tools: Json | undefined, { dialect, losses }: WriteContext): BodyChanges {
  if (dialect.schemas !== 'kimi' || !Array.isArray(tools)) return {}
  const legalTools = (tools as readonly Json[]).map((tool, index): Json => {
    const schema = isObject(tool) ? tool['input_schema'] : undefined
    if (!isObject(schema)) return tool
    const legalSchema = kimiSchema(argumentSchema(schema))
    if (JSON.stringify(legalSchema) === JSON.stringify(schema)) return tool
    losses.change(['tools', index, 'parameters'], legalSchema, 'schema-made-legal')
    return { ...(tool as JsonObject), input_schema: legalSchema }
  })
  return legalTools.every((tool, index) => tool === tools[index]) ? {} : { tools: legalTools }
}
