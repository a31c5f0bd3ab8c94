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
import { isNamed, offeredBy, reportOnly, takesNames, writeMode } from './tool-modes.ts'

/**
 * Writes `tools`. Hosted tools are reported as lost, because chat only supports web search, and only as a request
 * option.
 */
export function writeTools(request: CanonicalRequest, context: WriteContext): JsonObject {
  const wire: JsonObject[] = []
  const isOffered = offeredBy(request, context.dialect)
  request.tools?.forEach((tool, index) => {
    if (tool.type === 'hosted') context.losses.drop(['tools', index], 'no-hosted-tools')
    else if (isOffered?.(tool) === false) context.losses.dropRestored(['tools', index], 'not-allowed-by-the-choice')
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
export function writeToolChoice(request: CanonicalRequest, hasTools: boolean, context: WriteContext): JsonObject {
  const { toolChoice: choice, parallelToolCalls } = request
  if (!hasTools) {
    reportNoChoice(request, context.losses)
    return {}
  }
  return {
    ...(choice && writeChoiceOf(request, choice, context)),
    ...defined({ parallel_tool_calls: parallelOf(parallelToolCalls, context) }),
  }
}

/** Returns the switch for parallel calls if the upstream has one. */
function parallelOf(parallel: boolean | undefined, { dialect, losses }: WriteContext): boolean | undefined {
  if (dialect.parallel_switch !== false || parallel === undefined) return parallel
  const path = ['parallelToolCalls']
  return parallel ? losses.dropRestored(path, 'allowed-anyway') : losses.drop(path, 'no-switch-for-parallel-calls')
}

function writeChoiceOf(request: CanonicalRequest, choice: ToolChoice, context: WriteContext): JsonObject {
  const { dialect, losses } = context
  if (!takesNames(dialect)) return writeMode(request, choice, dialect, losses)
  const extras = extrasFor(choice, FORMAT)
  if (Object.keys(extras).length > 0) return extras
  if (choice.hosted !== undefined) losses.drop(['toolChoice', 'hosted'], 'no-hosted-tools')
  return { tool_choice: writeChoice(request, choice, context) }
}

function writeChoice(request: CanonicalRequest, choice: ToolChoice, { dialect, losses }: WriteContext): Json {
  const { mode, only } = choice
  if (only === undefined) return mode
  if (mode === 'none') {
    losses.drop(['toolChoice', 'only'], 'no-tool-may-be-called')
    return mode
  }
  if (isNamed(choice)) {
    const [name] = only as [string]
    const isCustom = request.tools?.some(tool => tool.type === 'freeform' && tool.name === name)
    const type = isCustom ? 'custom' : 'function'
    return { type, [type]: { name } }
  }
  if (dialect.tool_choices === 'one') {
    reportOnly(request, dialect, losses)
    return mode
  }
  return {
    type: 'allowed_tools',
    allowed_tools: { mode, tools: only.map(name => ({ type: 'function', function: { name } })) },
  }
}
