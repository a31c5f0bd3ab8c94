import type { Losses, Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import type { Tool } from '../../canonical/tool.ts'
import type { MessagesDialect } from '../../formats/dialects/messages.ts'
import { type BodyChanges, withFields } from '../native.ts'
import { FORMAT } from './context.ts'

/*
 * Fields of previews, for upstreams that refuse a field if they do not know its beta feature
 * (docs/wire/messages.md#hosted-models).
 */

/** The beta features of which one allows a field. A field without any exists at the vendor's own servers alone. */
type FieldBetas = { readonly [field: string]: readonly string[] }

const CONTEXT_MANAGEMENT = ['context-management-2025-06-27', 'compact-2026-01-12']
const MCP = ['mcp-client-2025-11-20', 'mcp-client-2025-04-04']
const TOOL_SEARCH = ['tool-search-tool-2025-10-19', 'advanced-tool-use-2025-11-20']

const REQUEST_FIELDS: FieldBetas = {
  context_management: CONTEXT_MANAGEMENT,
  compaction: ['compact-2026-09-04'],
  safeguards: ['dangerous-tool-use-2026-09-03'],
  mcp_servers: MCP,
  container: ['code-execution-2025-08-25', 'skills-2025-10-02'],
  speed: ['fast-mode-2026-02-01'],
  diagnostics: [],
  inference_geo: [],
  fallbacks: [],
  fallback_credit_token: [],
  billing_policy: [],
}

const TOOL_FIELDS: FieldBetas = {
  defer_loading: TOOL_SEARCH,
  allowed_callers: ['advanced-tool-use-2025-11-20'],
  input_examples: ['tool-examples-2025-10-29', 'advanced-tool-use-2025-11-20'],
  eager_input_streaming: ['fine-grained-tool-streaming-2025-05-14'],
}

/** Tools of the vendor, by the beginning of their types. */
const TOOL_TYPES: FieldBetas = {
  tool_search_tool_: TOOL_SEARCH,
  mcp_toolset: MCP,
  advisor_: ['advisor-tool-2026-03-01'],
}

/** Settings on which the accepted fields depend. */
export interface PreviewOptions {
  readonly dialect: Pick<MessagesDialect, 'preview_fields'>
  /** Returns true if the channel passes on a beta feature. */
  readonly passesBeta: (beta: string) => boolean
  readonly losses: Losses
}

/** The policy of an upstream that is not known. */
export const passesNone = (): boolean => false

const REASON = 'no-previews'

const acceptsAll = ({ dialect }: PreviewOptions): boolean => dialect.preview_fields !== false

/** Returns the names of the fields that the upstream refuses. */
const refusedFields = (fields: JsonObject, table: FieldBetas, { passesBeta }: PreviewOptions): readonly string[] =>
  Object.keys(table).filter(field => fields[field] !== undefined && !table[field]!.some(passesBeta))

/** Returns the names of a request's fields that the upstream refuses, and reports them. */
export function refusedPreviews(fields: JsonObject, options: PreviewOptions): readonly string[] {
  if (acceptsAll(options)) return []
  const refused = refusedFields(fields, REQUEST_FIELDS, options)
  for (const field of refused) options.losses.drop(['extras', FORMAT, field], REASON)
  return refused
}

/** Returns a tool with the fields that the upstream accepts, or undefined if it refuses the tool. */
export function acceptedTool(
  wire: JsonObject,
  tool: Tool,
  path: Path,
  options: PreviewOptions,
): JsonObject | undefined {
  if (acceptsAll(options)) return wire
  const { losses, passesBeta } = options
  const type = stringIn(wire['type'])
  const row = Object.keys(TOOL_TYPES).find(start => type.startsWith(start))
  if (row !== undefined && !TOOL_TYPES[row]!.some(passesBeta)) return losses.drop(path, REASON)
  const refused = refusedFields(wire, TOOL_FIELDS, options)
  if (refused.length === 0) return wire
  const accepted = withFields(wire, {}, refused)
  if (tool.type === 'opaque') losses.change([...path, 'value'], accepted, REASON)
  else for (const field of refused) losses.drop([...path, 'extras', FORMAT, field], REASON)
  return accepted
}

/** Returns the changed fields of a native body: its tools, if the upstream refuses any of them or of their fields. */
export function acceptedTools(
  tools: Json | undefined,
  declared: readonly Tool[],
  options: PreviewOptions,
): BodyChanges {
  if (acceptsAll(options) || !Array.isArray(tools)) return {}
  const accepted = (tools as readonly Json[]).flatMap((wire, index) => {
    const tool = declared[index]
    return isObject(wire) && tool !== undefined ? (acceptedTool(wire, tool, ['tools', index], options) ?? []) : [wire]
  })
  const isSame = accepted.length === tools.length && accepted.every((tool, index) => tool === tools[index])
  return isSame ? {} : { tools: accepted.length === 0 ? undefined : accepted }
}
