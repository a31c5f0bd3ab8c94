import type { Part } from '../canonical/content.ts'
import type { Loss } from '../canonical/loss.ts'
import { isObject, type Json } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { isClientTool, type Tool, type ToolChoice } from '../canonical/tool.ts'
import { workOf } from '../canonical/work.ts'

/**
 * Finds lost tools without which the conversation cannot continue (trap 89): all client tools, if none of them remains;
 * tools that are called in the history; and tools that `toolChoice` requires. Any other lost hosted tool is merely
 * reported, even if it was the only tool.
 */
export function essentialTools(losses: readonly Loss[], request: CanonicalRequest): readonly Loss[] {
  const { tools = [], toolChoice } = request
  const toolLosses = losses.filter(dropsTool)
  if (toolLosses.length === 0 || tools.length === 0 || workOf(request) !== 'conversation') return []
  const lostIndexes = new Set(toolLosses.flatMap(({ path: [, at] }) => at ?? [...tools.keys()]))
  const remaining = tools.filter((_, index) => !lostIndexes.has(index))
  if (toolChoice?.mode === 'required' && remaining.length === 0) return toolLosses
  const losesAllClientTools = toolChoice?.mode !== 'none' && tools.some(isClientTool) && !remaining.some(isClientTool)
  const isNeeded = isNeededBy(request, remaining)
  return toolLosses.filter(({ path: [, at] }) => {
    const lostTools = at === undefined ? tools : [tools[at as number]!]
    return lostTools.some(tool => (losesAllClientTools && isClientTool(tool)) || isNeeded(tool))
  })
}

/** Returns true if the loss drops a whole tool, or all tools. */
const dropsTool = ({ kind, path, restored }: Loss): boolean =>
  kind === 'dropped' && restored !== true && path[0] === 'tools' && path.length <= 2

/** Returns a predicate for lost tools that the history or `toolChoice` needs. */
function isNeededBy({ messages, toolChoice }: CanonicalRequest, remaining: readonly Tool[]): (tool: Tool) => boolean {
  const remainingNames = new Set(remaining.flatMap(tool => nameOf(tool) ?? []))
  const calledNames = new Set(messages.flatMap(({ content }) => content.flatMap(calledNameIn)))
  const isChosen = isRequiredBy(toolChoice)
  return tool => {
    const name = nameOf(tool)
    return (name !== undefined && !remainingNames.has(name) && calledNames.has(name)) || isChosen(tool, remainingNames)
  }
}

const calledNameIn = (part: Part): readonly string[] => (part.type === 'tool-call' ? [part.name] : [])

/**
 * Returns a predicate for tools that `toolChoice` requires: by name, by hosted kind, or by the wire value in a format's
 * extras.
 */
function isRequiredBy(choice: ToolChoice | undefined): (tool: Tool, remainingNames: ReadonlySet<string>) => boolean {
  const { mode, only, hosted, extras = {} } = choice ?? {}
  const chosenNames = new Set(mode === 'none' ? [] : only)
  const wireChoices =
    mode === 'required'
      ? Object.values(extras)
          .map(one => one['tool_choice'])
          .filter(isObject)
      : []
  return (tool, remainingNames) => {
    const name = nameOf(tool)
    // A list of allowed tools only requires the client tools in it.
    if (
      name !== undefined &&
      chosenNames.has(name) &&
      !remainingNames.has(name) &&
      (mode === 'required' || isClientTool(tool))
    )
      return true
    if (tool.type === 'hosted')
      return (
        (mode === 'required' && hosted === tool.kind) || wireChoices.some(one => containsType(one, KINDS[tool.kind]))
      )
    if (tool.type !== 'opaque') return false
    const { type } = tool.value
    return typeof type === 'string' && wireChoices.some(one => containsType(one, type))
  }
}

/** Prefix of each hosted tool's wire type. Vendors append a version. */
const KINDS = { 'web-search': 'web_search', 'web-fetch': 'web_fetch', 'code-execution': 'code_' } as const

/** Returns true if a wire `tool_choice`, or a tool nested in it, has this type or a version of it. */
function containsType(choice: Json, type: string): boolean {
  if (!isObject(choice)) return false
  const { type: choiceType, tools, allowed_tools: allowed } = choice
  if (typeof choiceType === 'string' && (choiceType === type || choiceType.startsWith(type))) return true
  if (Array.isArray(tools) && tools.some(one => containsType(one, type))) return true
  return allowed !== undefined && containsType(allowed, type)
}

/** Returns the tool's name, or undefined for hosted tools and for nameless opaque tools. */
function nameOf(tool: Tool): string | undefined {
  if (tool.type === 'hosted') return undefined
  if (tool.type !== 'opaque') return tool.name
  const { name } = tool.value
  return typeof name === 'string' ? name : undefined
}
