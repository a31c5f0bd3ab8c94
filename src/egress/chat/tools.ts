import { append } from '../../canonical/lists.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
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
export function writeTools({ tools }: CanonicalRequest, context: WriteContext): JsonObject {
  const wire: JsonObject[] = []
  tools?.forEach((tool, index) => {
    if (tool.type === 'hosted') context.losses.drop(['tools', index], 'no-hosted-tools')
    else append(wire, writeTool(tool, ['tools', index], context))
  })
  return wire.length === 0 ? {} : { tools: wire }
}

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
export function writeToolChoice(request: CanonicalRequest, hasTools: boolean, { losses }: WriteContext): JsonObject {
  const { toolChoice: choice, parallelToolCalls } = request
  if (!hasTools) {
    reportNoChoice(request, losses)
    return {}
  }
  return {
    ...(choice && writeChoiceWithExtras(choice, request.tools ?? [], losses)),
    ...defined({ parallel_tool_calls: parallelToolCalls }),
  }
}

function writeChoiceWithExtras(choice: ToolChoice, tools: readonly Tool[], losses: Losses): JsonObject {
  const extras = extrasFor(choice, FORMAT)
  if (Object.keys(extras).length > 0) return extras
  if (choice.hosted !== undefined) losses.drop(['toolChoice', 'hosted'], 'no-hosted-tools')
  return { tool_choice: writeChoice(choice, tools, losses) }
}

function writeChoice({ mode, only }: ToolChoice, tools: readonly Tool[], losses: Losses): Json {
  if (only === undefined) return mode
  if (mode === 'none') {
    losses.drop(['toolChoice', 'only'], 'no-tool-may-be-called')
    return mode
  }
  if (mode === 'required' && only.length === 1) {
    const [name] = only as [string]
    const type = tools.some(tool => tool.type === 'freeform' && tool.name === name) ? 'custom' : 'function'
    return { type, [type]: { name } }
  }
  return {
    type: 'allowed_tools',
    allowed_tools: { mode, tools: only.map(name => ({ type: 'function', function: { name } })) },
  }
}
