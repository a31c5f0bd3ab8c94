import { append } from '../../canonical/lists.ts'
import type { Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FreeformTool, FunctionTool, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined, extrasFor } from '../fields.ts'
import { dropStrictness, strictnessOf } from '../sanitize/closed-schema.ts'
import { reportNoChoice } from '../sanitize/limits.ts'
import { emptyParameters, parametersOf } from '../sanitize/parameters.ts'
import { around, FORMAT, type WriteContext, writeCache } from './content.ts'

/**
 * Writes `tools`. Hosted tools are reported as lost, because chat only supports web search, and only as a request
 * option.
 */
export function writeTools({ tools, toolChoice }: CanonicalRequest, context: WriteContext): JsonObject {
  const wire: JsonObject[] = []
  const allowedNames = offeredNames(toolChoice, tools ?? [], context)
  tools?.forEach((tool, index) => {
    if (allowedNames !== undefined && 'name' in tool && !allowedNames.has(tool.name))
      context.losses.dropRestored(['tools', index], 'not-allowed-by-the-choice')
    else if (tool.type === 'hosted') context.losses.drop(['tools', index], 'no-hosted-tools')
    else append(wire, writeTool(tool, ['tools', index], context))
  })
  return wire.length === 0 ? {} : { tools: wire }
}

/**
 * Returns the names of the tools that are offered, if a choice of several is allowed and the upstream knows no such
 * choice. Undefined if all tools are offered.
 */
function offeredNames(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  { dialect }: WriteContext,
): ReadonlySet<string> | undefined {
  if (dialect.allowed_tools !== false || choice?.only === undefined || isNamed(choice) || choice.mode === 'none')
    return undefined
  const names = new Set(choice.only)
  return tools.some(tool => 'name' in tool && names.has(tool.name)) ? names : undefined
}

/** Returns true if the choice is a call of one tool, which every upstream knows. */
const isNamed = ({ mode, only }: ToolChoice): boolean => mode === 'required' && only?.length === 1

function writeTool(tool: Exclude<Tool, HostedTool>, path: Path, context: WriteContext): JsonObject[] {
  if (tool.type === 'opaque') return tool.format === FORMAT ? [tool.value] : []
  if (tool.type === 'freeform') return [writeCustom(tool)]
  const { name, description } = tool
  const strict = writeStrict(tool, path, context)
  const parameters =
    parametersOf(tool, path, context.losses, context.dialect) ?? emptyParameters(path, context.losses, strict)
  const wire = around(tool, 'function', defined({ name, description, parameters, strict }) as JsonObject)
  return [{ ...wire, ...writeToolCache(tool, path, context) }]
}

/** Returns the strictness of a function, or undefined if the upstream takes none. */
function writeStrict(tool: FunctionTool, path: Path, { dialect, losses }: WriteContext): boolean | undefined {
  return dialect.strict_tools === false ? dropStrictness(tool, path, losses) : strictnessOf(tool, path, losses)
}

/** Writes the cache marker of a tool. OpenAI has markers on parts of messages only, and refuses others. */
function writeToolCache(tool: FunctionTool, path: Path, context: WriteContext): JsonObject {
  if (tool.cache === undefined || context.dialect.cache !== 'prompt_cache_breakpoint')
    return writeCache(tool, path, context)
  context.losses.drop([...path, 'cache'], 'no-cache-markers-here')
  return {}
}

function writeCustom(tool: FreeformTool): JsonObject {
  const { name, description, grammar } = tool
  const format = grammar === undefined ? undefined : { type: 'grammar', grammar: { ...grammar } }
  return around(tool, 'custom', defined({ name, description, format }) as JsonObject)
}

/** Writes `tool_choice` and `parallel_tool_calls` if the request has tools. */
export function writeToolChoice(request: CanonicalRequest, hasTools: boolean, context: WriteContext): JsonObject {
  const { losses } = context
  const { toolChoice: choice, parallelToolCalls } = request
  if (!hasTools) {
    reportNoChoice(request, losses)
    return {}
  }
  return {
    ...(choice && writeChoiceWithExtras(choice, request.tools ?? [], context)),
    ...defined({ parallel_tool_calls: parallelToolCalls }),
  }
}

function writeChoiceWithExtras(choice: ToolChoice, tools: readonly Tool[], context: WriteContext): JsonObject {
  const { losses } = context
  const extras = extrasFor(choice, FORMAT)
  if (Object.keys(extras).length > 0) return extras
  if (choice.hosted !== undefined) losses.drop(['toolChoice', 'hosted'], 'no-hosted-tools')
  return { tool_choice: writeChoice(choice, tools, context) }
}

function writeChoice(choice: ToolChoice, tools: readonly Tool[], { dialect, losses }: WriteContext): Json {
  const { mode, only } = choice
  if (only === undefined) return mode
  if (mode === 'none') {
    losses.drop(['toolChoice', 'only'], 'no-tool-may-be-called')
    return mode
  }
  if (isNamed(choice)) {
    const [name] = only as [string]
    const type = tools.some(tool => tool.type === 'freeform' && tool.name === name) ? 'custom' : 'function'
    return { type, [type]: { name } }
  }
  if (dialect.allowed_tools === false) {
    losses.dropRestored(['toolChoice', 'only'], 'others-are-not-offered')
    return mode
  }
  return {
    type: 'allowed_tools',
    allowed_tools: { mode, tools: only.map(name => ({ type: 'function', function: { name } })) },
  }
}
