import type { Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject, wireSourceOf, withWireSource } from '../../canonical/node.ts'
import {
  DEFAULT_NAMESPACE,
  type FreeformTool,
  type FunctionTool,
  type HostedKind,
  type HostedTool,
  type Tool,
  type ToolChoice,
} from '../../canonical/tool.ts'
import { defined, extrasOf, isMaybe, objects, required, text, texts, WrongType } from '../fields.ts'
import { opaqueTool } from '../opaque-tool.ts'
import { readApproximateLocation, readFreeform, readFunction, readGrammar, readMode } from '../tools.ts'
import { FORMAT, kindOfTool, TOOL_ITEMS } from './wire.ts'

const KNOWN_FIELDS = {
  function: new Set(['type', 'name', 'description', 'parameters', 'strict']),
  custom: new Set(['type', 'name', 'description', 'format']),
  customFree: new Set(['type', 'name', 'description']),
}

/** Reads `tools`, followed by the tools that items of the input add (trap 89). */
export function readTools({ tools, input }: JsonObject): readonly Tool[] | undefined {
  const declared = readList(tools)
  const added = readAdded(input, declared ?? [])
  return added.length === 0 ? declared : [...(declared ?? []), ...added]
}

const readList = (wire: Json | undefined): readonly Tool[] | undefined => objects(wire)?.flatMap(readOne)

const readOne = (wire: JsonObject): readonly Tool[] =>
  wire['type'] === 'namespace' ? readNamespace(wire) : [readTool(wire)]

/**
 * Reads the tools that items add. If several have the same name, the last is used, because clients change a tool by
 * adding it again. A tool in `tools` takes precedence. Each tool records its wire value, which an answer repeats.
 */
function readAdded(input: Json | undefined, declared: readonly Tool[]): readonly Tool[] {
  if (!Array.isArray(input)) return isObject(input) ? readAdded([input], declared) : []
  const items = input.filter(item => isObject(item) && TOOL_ITEMS.has(item['type'])) as readonly JsonObject[]
  if (items.length === 0) return []
  const declaredKeys = new Set(declared.map(keyOf))
  const added = new Map<string, Tool>()
  for (const wire of items.flatMap(item => objects(item['tools']) ?? []))
    for (const tool of readOne(wire)) {
      const key = keyOf(tool)
      if (!declaredKeys.has(key)) added.set(key, withWireSource(tool, FORMAT, wire))
    }
  return [...added.values()]
}

/** Returns the path of each tool in the body. The path of a tool that an item adds is inside that item. */
export function toolPaths({ tools, input }: JsonObject): readonly Path[] {
  const declared = (objects(tools) ?? []).flatMap((wire, index): readonly Path[] => {
    const read = readOne(wire)
    const at: Path = ['tools', index]
    return read[0]?.type === 'opaque' || wire['type'] !== 'namespace'
      ? [at]
      : read.map((_, position) => [...at, 'tools', position])
  })
  const items = (Array.isArray(input) ? input : [input]) as readonly Json[]
  const wires = new Map<unknown, Path>()
  for (const [index, item] of items.entries())
    if (isObject(item) && TOOL_ITEMS.has(item['type']))
      for (const [position, wire] of (objects(item['tools']) ?? []).entries())
        wires.set(wire, [...(Array.isArray(input) ? ['input', index] : ['input']), 'tools', position])
  const added = readAdded(input, readList(tools) ?? [])
  return [...declared, ...added.map(tool => wires.get(wireSourceOf(tool, FORMAT)?.wire) ?? ['input'])]
}

function keyOf(tool: Tool): string {
  if (tool.type === 'hosted') return tool.kind
  if (tool.type === 'opaque') return JSON.stringify(tool.value)
  const { name: group } = tool.namespace ?? {}
  return JSON.stringify([group === DEFAULT_NAMESPACE ? undefined : group, tool.name])
}

function readTool(wire: JsonObject): Tool {
  const type = required(text(wire['type']))
  return READERS.get(kindOfTool(type)!)?.(wire) ?? opaqueTool(FORMAT, wire)
}

const READERS: ReadonlyMap<string, (wire: JsonObject) => Tool> = new Map<string, (wire: JsonObject) => Tool>([
  ['function', readFunctionTool],
  ['custom', readCustom],
  ['web_search', readSearch],
  ['code_interpreter', readInterpreter],
])

function readFunctionTool(wire: JsonObject): FunctionTool {
  return { ...readFunction(wire), ...extrasOf(FORMAT, wire, KNOWN_FIELDS.function) }
}

/** Reads a tool whose argument is free text. A format that is not a plain grammar becomes an extra. */
function readCustom(wire: JsonObject): FreeformTool {
  const format = isObject(wire['format']) ? wire['format'] : {}
  const grammar = readGrammar(format)
  const plain = format['type'] === 'text' && Object.keys(format).length === 1
  const knownFields = plain || grammar !== undefined ? KNOWN_FIELDS.custom : KNOWN_FIELDS.customFree
  return { ...readFreeform(wire, grammar), ...extrasOf(FORMAT, wire, knownFields) }
}

/**
 * Reads a group of tools as separate tools, each with the group's name. The group's other fields become extras of the
 * first tool. A group that contains anything but functions and custom tools becomes one opaque tool.
 */
function readNamespace(wire: JsonObject): readonly Tool[] {
  const { name, description, tools } = wire
  const opaqueGroup: readonly Tool[] = [opaqueTool(FORMAT, wire)]
  if (typeof name !== 'string' || (description != null && typeof description !== 'string')) return opaqueGroup
  if (!Array.isArray(tools) || tools.length === 0 || !tools.every(isMember)) return opaqueGroup
  const namespace = { name, ...defined({ description: description ?? undefined }) }
  const remaining = extrasOf(FORMAT, wire, NAMESPACE).extras?.[FORMAT]
  return tools.map((tool, index) => {
    const member = { ...(tool['type'] === 'custom' ? readCustom(tool) : readFunctionTool(tool)), namespace }
    if (index > 0 || remaining === undefined) return member
    return { ...member, extras: { [FORMAT]: { ...member.extras?.[FORMAT], namespace: remaining } } }
  })
}

const NAMESPACE = new Set(['type', 'name', 'description', 'tools'])

/**
 * Returns true if a tool of a group can be read and does not use the `namespace` field, which may contain the group's
 * extras.
 */
const isMember = (tool: Json): tool is JsonObject =>
  isObject(tool) &&
  (tool['type'] === 'function' || tool['type'] === 'custom') &&
  tool['namespace'] === undefined &&
  typeof tool['name'] === 'string' &&
  isMaybe(tool['description'], 'string') &&
  (tool['parameters'] == null || isObject(tool['parameters'])) &&
  isMaybe(tool['strict'], 'boolean')

/** Reads any version of web search. */
function readSearch(wire: JsonObject): HostedTool {
  const domains = domainsOf(wire['filters'])
  const approximateLocation = readApproximateLocation(wire['user_location'])
  const knownFields = new Set(['type', 'search_context_size'])
  if (domains !== undefined) knownFields.add('filters')
  if (approximateLocation !== undefined) knownFields.add('user_location')
  return {
    type: 'hosted',
    kind: 'web-search',
    ...defined({
      allowedDomains: domains,
      contextSize: text(wire['search_context_size']),
      location: approximateLocation,
    }),
    ...extrasOf(FORMAT, wire, knownFields),
  }
}

function domainsOf(filters: Json | undefined): readonly string[] | undefined {
  if (!isObject(filters) || Object.keys(filters).length !== 1) return undefined
  const domains = filters['allowed_domains']
  return Array.isArray(domains) && domains.length > 0 && domains.every(domain => typeof domain === 'string')
    ? texts(domains)
    : undefined
}

/**
 * Reads the code interpreter. The automatic container is the default in every format; any other container becomes an
 * extra.
 */
function readInterpreter(wire: JsonObject): HostedTool {
  const { container } = wire
  const auto = isObject(container) && container['type'] === 'auto' && Object.keys(container).length === 1
  return {
    type: 'hosted',
    kind: 'code-execution',
    ...extrasOf(FORMAT, wire, auto ? AUTOMATIC : CONTAINED),
  }
}

const AUTOMATIC = new Set(['type', 'container'])
const CONTAINED = new Set(['type'])

const HOSTED_BY_TYPE: ReadonlyMap<string | undefined, HostedKind> = new Map<string | undefined, HostedKind>([
  ['web_search', 'web-search'],
  ['code_interpreter', 'code-execution'],
])

/** Reads the tool choice. An object of an unknown kind counts as required. */
export function readToolChoice(wire: Json | undefined): ToolChoice | undefined {
  if (wire == null) return undefined
  if (typeof wire === 'string') {
    const mode = readMode(wire)
    return mode === undefined ? { mode: 'auto', extras: { [FORMAT]: { tool_choice: wire } } } : { mode }
  }
  if (!isObject(wire)) throw WrongType.instance
  return (
    readForced(wire) ??
    readHosted(wire) ??
    readAllowed(wire) ?? { mode: isOptional(wire) ? 'auto' : 'required', extras: { [FORMAT]: { tool_choice: wire } } }
  )
}

/** Returns true if a choice restricts the tools without requiring a call. */
const isOptional = ({ type, mode }: JsonObject): boolean => type === 'allowed_tools' && mode === 'auto'

function readForced(wire: JsonObject): ToolChoice | undefined {
  const { type, name } = wire
  if ((type !== 'function' && type !== 'custom') || typeof name !== 'string') return undefined
  if (Object.keys(wire).length !== 2) return undefined
  return { mode: 'required', only: [name] }
}

function readHosted(wire: JsonObject): ToolChoice | undefined {
  const hosted = HOSTED_BY_TYPE.get(kindOfTool(wire['type']))
  return hosted === undefined || Object.keys(wire).length !== 1 ? undefined : { mode: 'required', hosted }
}

/** Reads a list of allowed functions and custom tools. Returns undefined for any other list, which becomes an extra. */
function readAllowed(wire: JsonObject): ToolChoice | undefined {
  const { type, mode, tools } = wire
  if (type !== 'allowed_tools' || (mode !== 'auto' && mode !== 'required') || Object.keys(wire).length !== 3)
    return undefined
  if (!Array.isArray(tools)) return undefined
  const names = tools.map(tool => (isObject(tool) ? readForced(tool) : undefined))
  if (names.some(choice => choice === undefined)) return undefined
  return { mode, only: names.map(choice => choice!.only![0]!) }
}
