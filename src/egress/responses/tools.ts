import type { Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FreeformTool, FunctionTool, HostedKind, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined, extrasFor } from '../fields.ts'
import { strictnessOf } from '../sanitize/closed-schema.ts'
import { runsAt } from '../sanitize/hosted-tools.ts'
import { parametersOf } from '../sanitize/parameters.ts'
import { FORMAT, type WriteContext } from './content.ts'
import { FORCE_IMAGE_TOOL, isImageRequest, writeImageTool } from './images.ts'
import { isToolSearch, takesOpenaiSearches, withoutAccess } from './search-access.ts'

type NamedTool = FunctionTool | FreeformTool

/** Writes the tools in order. Tools of one namespace become a single entry at the index of the first. */
export function writeTools(request: CanonicalRequest, context: WriteContext): JsonObject {
  if (isImageRequest(request)) return writeImageTool(request, context.losses)
  return request.tools === undefined ? {} : writeList(request.tools, context)
}

function writeList(tools: readonly Tool[], context: WriteContext): JsonObject {
  const written: JsonObject[] = []
  const order: number[][] = []
  const groups = new Map<string, { readonly tools: JsonObject[]; readonly order: number[] }>()
  for (const [index, tool] of tools.entries()) {
    const path: Path = ['tools', index]
    const wire = writeTool(tool, path, context)
    if (wire === undefined) continue
    const isInNamespace = isNamed(tool) && tool.namespace !== undefined
    const group = isInNamespace ? groups.get(tool.namespace!.name) : undefined
    if (group !== undefined) {
      reportGroup(tool as NamedTool, tools, group.order[0]!, path, context)
      group.tools.push(wire)
      group.order.push(index)
      continue
    }
    order.push([index])
    if (!isInNamespace) written.push(wire)
    else {
      const groupTools = [wire]
      groups.set(tool.namespace!.name, { tools: groupTools, order: order.at(-1)! })
      written.push(writeGroup(tool, groupTools, path, context))
    }
  }
  context.losses.reorder(['tools'], order.flat(), tools.length, 'groups-stand-together')
  return written.length > 0 ? { tools: written } : {}
}

const isNamed = (tool: Tool): tool is NamedTool => tool.type === 'function' || tool.type === 'freeform'

function writeGroup(first: NamedTool, tools: readonly JsonObject[], path: Path, { losses }: WriteContext): JsonObject {
  const { name, description = '' } = first.namespace!
  if (first.namespace!.description === undefined)
    losses.add([...path, 'namespace', 'description'], '', 'minted-description')
  return { type: 'namespace', name, description, tools }
}

/** Reports differing descriptions within a namespace, because only its first tool's description is written. */
function reportGroup(
  { namespace }: NamedTool,
  tools: readonly Tool[],
  first: number,
  path: Path,
  { losses }: WriteContext,
): void {
  const describedNamespace = (tools[first] as NamedTool).namespace!
  const { description = '' } = describedNamespace
  if (namespace!.description === undefined && description === '')
    losses.add([...path, 'namespace', 'description'], '', 'minted-description')
  else if (namespace!.description !== description)
    losses.change([...path, 'namespace'], { ...describedNamespace, description }, 'one-description-a-group')
}

function writeTool(tool: Tool, path: Path, context: WriteContext): JsonObject | undefined {
  switch (tool.type) {
    case 'function':
      return writeFunction(tool, path, context)
    case 'freeform':
      return writeCustom(tool)
    case 'hosted':
      if (!runsAt(tool, context.dialect)) return context.losses.drop(path, 'no-hosted-tools')
      return writeHosted(tool, path, context)
    case 'opaque':
      if (tool.format !== FORMAT) return undefined
      return isToolSearch(tool) && !takesOpenaiSearches(context.dialect)
        ? context.losses.drop(path, 'no-search-of-tools')
        : tool.value
  }
}

/**
 * Writes a function. Functions are strict by default in this format, so strictness is turned off for callers that did
 * not request it (trap 56).
 */
function writeFunction(tool: FunctionTool, path: Path, { dialect, losses }: WriteContext): JsonObject {
  const { name, description, cache } = tool
  const strict = strictnessOf(tool, path, losses)
  if (cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers-here')
  if (strict === undefined) losses.add([...path, 'strict'], false, 'minted-no-strictness')
  return {
    type: 'function',
    name,
    ...defined({ description }),
    parameters: parametersOf(tool, path, losses, dialect) ?? null,
    strict: strict ?? false,
    ...tool.extras?.[FORMAT],
  } as JsonObject
}

function writeCustom(tool: FreeformTool): JsonObject {
  const { name, description, grammar } = tool
  const format = grammar && { type: 'grammar', ...grammar }
  return { type: 'custom', name, ...defined({ description, format }), ...extrasFor(tool, FORMAT) } as JsonObject
}

const HOSTED_WRITERS: { readonly [K in HostedKind]?: (tool: HostedTool) => JsonObject } = {
  'web-search': writeSearch,
  'code-execution': writeInterpreter,
}

const SEARCH_LOSSES = {
  blockedDomains: 'no-blocked-domains',
  maxUses: 'no-limit-of-uses',
  cache: 'no-cache-markers-here',
}
const CODE_LOSSES = {
  ...SEARCH_LOSSES,
  allowedDomains: 'no-domains-for-code',
  contextSize: 'no-context-size-for-code',
  location: 'no-location-for-code',
}

function writeHosted(stated: HostedTool, path: Path, context: WriteContext): JsonObject | undefined {
  const { losses } = context
  const tool = withoutAccess(stated, path, context)
  if (tool === undefined) return undefined
  const write = HOSTED_WRITERS[tool.kind]
  if (write === undefined) return losses.drop(path, 'no-such-hosted-tool')
  losses.dropFields(tool, path, tool.kind === 'web-search' ? SEARCH_LOSSES : CODE_LOSSES)
  return write(tool)
}

function writeSearch(tool: HostedTool): JsonObject {
  const { allowedDomains, contextSize, location } = tool
  return {
    type: 'web_search',
    ...defined({
      filters: allowedDomains && { allowed_domains: allowedDomains },
      search_context_size: contextSize,
      user_location: location && { type: 'approximate', ...location },
    }),
    ...extrasFor(tool, FORMAT),
  } as JsonObject
}

function writeInterpreter(tool: HostedTool): JsonObject {
  return { type: 'code_interpreter', container: { type: 'auto' }, ...extrasFor(tool, FORMAT) }
}

/** Writes `tool_choice` and the setting for parallel calls. */
export function writeToolChoice(request: CanonicalRequest, context: WriteContext): JsonObject {
  const { toolChoice: choice, tools, parallelToolCalls } = request
  const parallel = defined({ parallel_tool_calls: parallelToolCalls }) as JsonObject
  if (isImageRequest(request)) return { ...FORCE_IMAGE_TOOL, ...parallel }
  if (choice === undefined) return parallel
  const nativeChoice = choice.extras?.[FORMAT]?.['tool_choice']
  return { tool_choice: nativeChoice ?? writeChoice(choice, tools ?? [], context), ...parallel }
}

/**
 * The type of a choice is that of the tool: "Tool choice 'web_search_preview' not found in 'tools' parameter"
 * (raine/claude-code-proxy#26; the AI SDK's OpenAI provider 4.0.118 writes `web_search`; read on 2026-12-01).
 */
const HOSTED_CHOICES: { readonly [K in HostedKind]?: string } = {
  'web-search': 'web_search',
  'code-execution': 'code_interpreter',
}

/** Writes a single choice. Named tools take precedence over hosted tools, and `none` takes precedence over both. */
function writeChoice(choice: ToolChoice, tools: readonly Tool[], { losses }: WriteContext): Json {
  const { mode, only, hosted } = choice
  if (hosted !== undefined) {
    const type = HOSTED_CHOICES[hosted]
    if (mode === 'required' && only === undefined && type !== undefined) return { type }
    losses.drop(['toolChoice', 'hosted'], 'no-such-choice')
  }
  if (only === undefined) return mode
  if (mode === 'none') {
    losses.drop(['toolChoice', 'only'], 'no-tool-may-be-called')
    return mode
  }
  const freeform = new Set(tools.flatMap(tool => (tool.type === 'freeform' ? [tool.name] : [])))
  const chosenTools = only.map(name => ({ type: freeform.has(name) ? 'custom' : 'function', name }))
  if (mode === 'required' && chosenTools.length === 1) return chosenTools[0]!
  return { type: 'allowed_tools', mode, tools: chosenTools }
}
