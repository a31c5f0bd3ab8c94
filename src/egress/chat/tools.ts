import { append } from '../../canonical/append.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FreeformTool, FunctionTool, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined, kept, spelt } from '../fields.ts'
import { reportNoChoice } from '../sanitize/choice.ts'
import { parametersOf } from '../sanitize/parameters.ts'
import { around, FORMAT, type WriteContext, writeCache } from './content.ts'

/** The three fields for tools: `tools`, the legacy `functions`, and the web search option. */
export function writeTools(request: CanonicalRequest, context: WriteContext): JsonObject {
  const tools: JsonObject[] = []
  const functions: JsonObject[] = []
  let search: JsonObject | undefined
  request.tools?.forEach((tool, index) => {
    const path: Path = ['tools', index]
    if (tool.type === 'hosted') search = writeSearch(tool, path, context, search)
    else if (spelt(tool as FunctionTool, FORMAT)['as'] === 'functions')
      functions.push(writeDefinition(tool as FunctionTool))
    else append(tools, writeTool(tool, path, context))
  })
  const { tools: emptyTools, functions: emptyFunctions } = spelt(request, FORMAT)
  return defined({
    tools: tools.length > 0 || emptyTools === 'empty' ? tools : undefined,
    functions: functions.length > 0 || emptyFunctions === 'empty' ? functions : undefined,
    web_search_options: search,
  })
}

function writeTool(tool: Exclude<Tool, HostedTool>, path: Path, context: WriteContext): JsonObject[] {
  if (tool.type === 'opaque') return tool.format === FORMAT ? [tool.value] : []
  if (context.native && spelt(tool, FORMAT)['flat'] === true) return [writeFlat(tool, path, context)]
  if (tool.type === 'freeform') return [writeCustom(tool)]
  const parameters = context.native ? tool.parameters : parametersOf(tool, path, context.losses)
  const wire = around(tool, 'function', functionFields({ ...tool, parameters }))
  const cached = { ...wire, ...writeCache(tool, path, context) }
  if (spelt(tool, FORMAT)['type'] !== 'absent') return [cached]
  const { type: _, ...untyped } = cached
  return [untyped]
}

/** With its name beside the type, as the caller wrote it. */
function writeFlat(tool: FunctionTool | FreeformTool, path: Path, context: WriteContext): JsonObject {
  const untyped = spelt(tool, FORMAT)['type'] === 'absent'
  const { name, description } = tool
  const format = 'grammar' in tool && tool.grammar !== undefined ? { type: 'grammar', ...tool.grammar } : undefined
  const own = tool.type === 'function' ? functionFields(tool) : defined({ name, description, format })
  const type = tool.type === 'function' ? 'function' : 'custom'
  return {
    ...(untyped ? {} : { type }),
    ...own,
    ...writeCache(tool, path, context),
    ...kept(tool, FORMAT),
  } as JsonObject
}

type Fields = Pick<FunctionTool, 'name' | 'description' | 'strict'> & { readonly parameters?: JsonObject | undefined }

const functionFields = ({ name, description, parameters, strict }: Fields): JsonObject =>
  defined({ name, description, parameters, strict }) as JsonObject

const writeDefinition = (tool: FunctionTool): JsonObject => ({ ...functionFields(tool), ...kept(tool, FORMAT) })

function writeCustom(tool: FreeformTool): JsonObject {
  const { name, description, grammar } = tool
  const format = grammar === undefined ? undefined : { type: 'grammar', grammar: { ...grammar } }
  return around(tool, 'custom', defined({ name, description, format }) as JsonObject)
}

/** Only a native caller's web search is sent: few models take the option, and none takes another hosted tool. */
function writeSearch(
  tool: HostedTool,
  path: Path,
  context: WriteContext,
  before: JsonObject | undefined,
): JsonObject | undefined {
  if (!context.native || tool.kind !== 'web-search' || before !== undefined) {
    context.losses.drop(path, 'no-hosted-tools')
    return before
  }
  context.losses.dropFields(tool, path, SEARCH_LOSSES)
  const user_location =
    tool.location === undefined ? undefined : { type: 'approximate', approximate: { ...tool.location } }
  return { ...defined({ search_context_size: tool.contextSize, user_location }), ...kept(tool, FORMAT) } as JsonObject
}

const SEARCH_LOSSES: Unwritten<HostedTool, 'type' | 'kind' | 'contextSize' | 'location'> = {
  allowedDomains: 'no-domain-filter',
  blockedDomains: 'no-domain-filter',
  maxUses: 'no-limit-of-uses',
  cache: 'no-cache-markers-here',
}

/** `tool_choice`, or `function_call` where the caller wrote that, and `parallel_tool_calls`. */
export function writeToolChoice(request: CanonicalRequest, written: JsonObject, context: WriteContext): JsonObject {
  const { parallelToolCalls } = request
  if (context.native || written['tools'] !== undefined || written['functions'] !== undefined)
    return { ...writeChosen(request, context), ...defined({ parallel_tool_calls: parallelToolCalls }) }
  reportNoChoice(request, context.losses)
  return {}
}

function writeChosen(request: CanonicalRequest, { losses, native }: WriteContext): JsonObject {
  const choice = request.toolChoice
  if (choice === undefined) return {}
  const own = kept(choice, FORMAT)
  if (Object.keys(own).length > 0) return own
  if (choice.hosted !== undefined) losses.drop(['toolChoice', 'hosted'], 'no-hosted-tools')
  if (spelt(choice, FORMAT)['as'] === 'function_call') return { function_call: legacyChoice(choice, losses) }
  return { tool_choice: writeChoice(choice, request.tools ?? [], native, losses) }
}

function legacyChoice(choice: ToolChoice, losses: Losses): Json {
  if (choice.only === undefined || choice.mode !== 'required') return choice.mode
  if (choice.only.length > 1) losses.drop(['toolChoice', 'only', 1], 'one-function-only')
  return { name: choice.only[0] ?? '' }
}

function writeChoice(choice: ToolChoice, tools: readonly Tool[], native: boolean, losses: Losses): Json {
  const { mode, only } = choice
  if (only === undefined) return mode
  if (mode === 'none') {
    losses.drop(['toolChoice', 'only'], 'none-is-none')
    return mode
  }
  const as = spelt(choice, FORMAT)['as']
  const freeform = (name: string) => tools.some(tool => tool.type === 'freeform' && tool.name === name)
  const entry = (name: string): JsonObject => {
    const type = (native ? as === 'custom' : freeform(name)) ? 'custom' : 'function'
    return native && spelt(choice, FORMAT)['flat'] === true ? { type, name } : { type, [type]: { name } }
  }
  if (mode === 'required' && only.length === 1 && as !== 'allowed_tools') return entry(only[0]!)
  return {
    type: 'allowed_tools',
    allowed_tools: { mode, tools: only.map(name => ({ type: 'function', function: { name } })) },
  }
}
