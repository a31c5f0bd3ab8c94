import { append } from '../../canonical/lists.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { defined, isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FunctionTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { around } from '../fields.ts'
import { reportNoChoice } from '../sanitize/limits.ts'
import { emptyParameters, parametersOf } from '../sanitize/parameters.ts'
import { FORMAT, type WriteContext } from './context.ts'

/** Writes the tools that the tool choice allows, because the choice itself cannot name tools in this format. */
export function writeTools({ tools = [], toolChoice }: CanonicalRequest, { losses }: WriteContext): JsonObject {
  const wire: JsonObject[] = []
  const locatedFunctions: LocatedFunction[] = []
  const allowed = allowedTools(toolChoice, tools)
  for (const [index, tool] of tools.entries()) {
    const path: Path = ['tools', index]
    if (allowed?.has(tool) === false) losses.dropRestored(path, 'not-allowed-by-the-choice')
    else if (tool.type === 'function') {
      locatedFunctions.push({ tool, path })
      wire.push(writeFunction(tool, path, losses))
    } else append(wire, writeOther(tool, path, losses))
  }
  if (wire.length === 0) return {}
  return { tools: wire, ...strictField(locatedFunctions, losses) }
}

interface LocatedFunction {
  readonly tool: FunctionTool
  readonly path: Path
}

function writeFunction(tool: FunctionTool, path: Path, losses: Losses): JsonObject {
  const { name, description } = tool
  if (tool.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers')
  const parameters = parametersOf(tool, path, losses) ?? emptyParameters(path, losses)
  return around(FORMAT, tool, 'function', defined({ name, description, parameters }) as JsonObject)
}

function writeOther(tool: Exclude<Tool, FunctionTool>, path: Path, losses: Losses): readonly JsonObject[] {
  if (tool.type === 'opaque') return tool.format === FORMAT ? [tool.value] : []
  losses.drop(path, tool.type === 'hosted' ? 'no-hosted-tools' : 'no-freeform-tools')
  return []
}

/**
 * Writes the setting for strict schemas. It applies to all functions of a request, and each strict function needs at
 * least one required parameter (docs/wire/cohere-chat.md#tools).
 */
function strictField(locatedFunctions: readonly LocatedFunction[], losses: Losses): JsonObject {
  const [first] = locatedFunctions
  if (first === undefined) return {}
  const { strict } = first.tool
  const isSame = locatedFunctions.every(({ tool }) => tool.strict === strict)
  if (isSame && (strict !== true || locatedFunctions.every(({ tool }) => hasRequiredParameter(tool))))
    return defined({ strict_tools: strict }) as JsonObject
  for (const { tool, path } of locatedFunctions)
    if (tool.strict !== undefined) losses.drop([...path, 'strict'], 'all-or-none-are-strict')
  return {}
}

const hasRequiredParameter = ({ parameters }: FunctionTool): boolean => {
  const required = parameters?.['required']
  return Array.isArray(required) && required.length > 0
}

/** Writes the tool choice: a required call of any tool, or none. */
export function writeToolChoice(
  request: CanonicalRequest,
  hasTools: boolean,
  { losses }: WriteContext,
): Json | undefined {
  const { toolChoice: choice, parallelToolCalls: parallel } = request
  if (!hasTools) {
    reportNoChoice(request, losses)
    return undefined
  }
  if (parallel === true) losses.dropRestored(['parallelToolCalls'], 'allowed-anyway')
  else if (parallel === false) losses.drop(['parallelToolCalls'], 'no-switch-for-parallel-calls')
  if (choice === undefined) return undefined
  return choice.extras?.[FORMAT]?.['tool_choice'] ?? writeMode(choice, request.tools ?? [], losses)
}

/** Returns the tools to offer, or undefined unless the choice restricts them to existing tools. */
function allowedTools(choice: ToolChoice | undefined, tools: readonly Tool[]): ReadonlySet<Tool> | undefined {
  if (choice?.only === undefined || choice.mode === 'none') return undefined
  const names = new Set(choice.only)
  const allowed = tools.filter(tool => names.has(toolName(tool) ?? ''))
  return allowed.length === 0 ? undefined : new Set(allowed)
}

const MODES: { readonly [M in ToolChoice['mode']]?: string } = { required: 'REQUIRED', none: 'NONE' }

function writeMode(choice: ToolChoice, tools: readonly Tool[], losses: Losses): string | undefined {
  const { mode, only, hosted } = choice
  const isExpressible = only === undefined || mode === 'none' || allowedTools(choice, tools) !== undefined
  if (mode === 'auto') {
    if (isExpressible && hosted === undefined) losses.dropRestored(['toolChoice'], 'the-default')
    else losses.drop(['toolChoice'], 'no-choice-of-tools')
    return undefined
  }
  if (only !== undefined && isExpressible) losses.dropRestored(['toolChoice', 'only'], 'others-are-not-offered')
  else if (only !== undefined) losses.drop(['toolChoice', 'only'], 'no-choice-of-tools')
  if (hosted !== undefined) losses.drop(['toolChoice', 'hosted'], 'no-hosted-tools')
  return MODES[mode]
}

function toolName(tool: Tool): string | undefined {
  if (tool.type === 'function') return tool.name
  const definition = tool.type === 'opaque' && tool.format === FORMAT ? tool.value['function'] : undefined
  const name = isObject(definition) ? definition['name'] : undefined
  return typeof name === 'string' ? name : undefined
}
