import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { BodyChanges } from '../native.ts'
import { withFields } from '../native.ts'
import { argumentSchema } from '../sanitize/closed-schema.ts'
import { SUBSETS } from '../sanitize/schema-subsets.ts'
import type { WriteContext } from './context.ts'

/*
 * Tools of native callers that upstreams other than Anthropic refuse. Claude Code sends the schemas of MCP servers as
 * they are; gateways and SDKs spell out the type of a tool.
 */

/** Returns the changed fields of a native body: its tools, if the upstream refuses any. */
export function withLegalTools(tools: Json | undefined, context: WriteContext): BodyChanges {
  const { schemas = 'any', custom_type } = context.dialect
  if ((schemas === 'any' && custom_type !== false) || !Array.isArray(tools)) return {}
  const legalTools = (tools as readonly Json[]).map((tool, index) =>
    isObject(tool) ? withLegalSchema(withoutType(tool, context), index, context) : tool,
  )
  return legalTools.every((tool, index) => tool === tools[index]) ? {} : { tools: legalTools }
}

/** Leaves out the type that tools have by default: DeepSeek refuses it (9router#3905; LiteLLM 1.110.2). */
const withoutType = (tool: JsonObject, { dialect }: WriteContext): JsonObject =>
  dialect.custom_type === false && tool['type'] === 'custom' ? withFields(tool, {}, ['type']) : tool

function withLegalSchema(tool: JsonObject, index: number, { dialect, losses }: WriteContext): JsonObject {
  const { schemas = 'any' } = dialect
  const { input_schema: schema } = tool
  if (schemas === 'any' || !isObject(schema)) return tool
  const legalSchema = SUBSETS[schemas](argumentSchema(schema))
  if (JSON.stringify(legalSchema) === JSON.stringify(schema)) return tool
  losses.change(['tools', index, 'parameters'], legalSchema, 'schema-made-legal')
  return { ...tool, input_schema: legalSchema }
}
