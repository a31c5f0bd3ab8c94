import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import { defined, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FunctionTool, HostedKind, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { extrasFor } from '../fields.ts'
import { reportNoChoice } from '../sanitize/limits.ts'
import { FORMAT, type WriteContext } from './context.ts'

/** Writes the tools (docs/wire/interactions.md#tools). Returns undefined if none remain. */
export function writeTools(request: CanonicalRequest, context: WriteContext): readonly JsonObject[] | undefined {
  const { tools = [] } = request
  const dropsHosted = EXCLUSIVE_MODELS.test(request.model) && tools.some(({ type }) => type === 'function')
  const written = tools.flatMap((tool, index): readonly JsonObject[] => {
    const path: Path = ['tools', index]
    if (!dropsHosted || tool.type !== 'hosted') return writeTool(tool, path, context.losses)
    context.losses.drop(path, 'not-beside-functions')
    return []
  })
  return written.length === 0 ? undefined : written
}

/** Matches models that accept either functions or hosted tools, but not both. */
const EXCLUSIVE_MODELS = /gemini-[12]\b/

function writeTool(tool: Tool, path: Path, losses: Losses): readonly JsonObject[] {
  if (tool.type === 'function') return [writeFunction(tool, path, losses)]
  if (tool.type === 'hosted') return [writeHosted(tool, path, losses)]
  if (tool.type === 'opaque') return tool.format === FORMAT ? [tool.value] : []
  losses.drop(path, 'no-freeform-tools')
  return []
}

function writeFunction(tool: FunctionTool, path: Path, losses: Losses): JsonObject {
  const { name, description, parameters, strict } = tool
  if (strict === false) losses.dropRestored([...path, 'strict'], 'lax-anyway')
  else if (strict !== undefined) losses.drop([...path, 'strict'], 'no-strict-tools')
  if (tool.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers')
  return {
    type: 'function',
    ...(defined({ name, description, parameters }) as JsonObject),
    ...extrasFor(tool, FORMAT),
  }
}

const HOSTED_TYPES: { readonly [K in HostedKind]: string } = {
  'web-search': 'google_search',
  'web-fetch': 'url_context',
  'code-execution': 'code_execution',
}

const HOSTED_LOSSES: Unwritten<HostedTool, 'type' | 'kind'> = {
  allowedDomains: 'no-list-of-domains',
  blockedDomains: 'no-list-of-domains',
  maxUses: 'no-limit-of-uses',
  contextSize: 'no-context-size',
  location: 'no-location-here',
  cache: 'no-cache-markers',
}

function writeHosted(tool: HostedTool, path: Path, losses: Losses): JsonObject {
  losses.dropFields(tool, path, HOSTED_LOSSES)
  return { type: HOSTED_TYPES[tool.kind], ...extrasFor(tool, FORMAT) }
}

const MODES: { readonly [M in ToolChoice['mode']]: string } = { auto: 'auto', required: 'any', none: 'none' }

/** Writes the tool choice: a mode, or the functions that may be called. */
export function writeToolChoice(
  request: CanonicalRequest,
  isChoosable: boolean,
  { losses }: WriteContext,
): Json | undefined {
  const { toolChoice: choice, parallelToolCalls: parallel } = request
  if (!isChoosable) {
    reportNoChoice(request, losses)
    return undefined
  }
  if (parallel === true) losses.dropRestored(['parallelToolCalls'], 'allowed-anyway')
  else if (parallel === false) losses.drop(['parallelToolCalls'], 'no-switch-for-parallel-calls')
  return choice && (extrasFor(choice, FORMAT)['tool_choice'] ?? writeChoice(choice, losses))
}

function writeChoice({ mode, only, hosted }: ToolChoice, losses: Losses): Json {
  if (hosted !== undefined) losses.drop(['toolChoice', 'hosted'], 'hosted-tools-cannot-be-forced')
  if (only === undefined) return MODES[mode]
  if (mode !== 'none') return { allowed_tools: { mode: MODES[mode], tools: only } }
  losses.drop(['toolChoice', 'only'], 'no-tool-may-be-called')
  return MODES[mode]
}
