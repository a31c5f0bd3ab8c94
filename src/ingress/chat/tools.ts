import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { FunctionTool, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined, nested, object, objects, required, rest, text, texts, WrongType } from '../fields.ts'
import { readCache } from './content.ts'
import { readFlatChoice, readFlatTool, readFunction } from './flat-tools.ts'
import { isFlat } from './wire.ts'

const FORMAT = 'chat'

const TAKEN = {
  tool: new Set(['type', 'function', 'custom', 'cache_control', 'prompt_cache_breakpoint']),
  definition: new Set(['name', 'description', 'parameters', 'strict']),
  custom: new Set(['name', 'description', 'format']),
  search: new Set(['search_context_size', 'user_location']),
}

/** Functions and custom tools of `tools`, the deprecated `functions`, and the web search that is an option here. */
export function readTools(wire: JsonObject): readonly Tool[] | undefined {
  const tools = objects(wire['tools'])
  const functions = objects(wire['functions'])
  const search = object(wire['web_search_options'])
  if (tools === undefined && functions === undefined && search === undefined) return undefined
  return [
    ...(tools ?? []).map(readTool),
    ...(functions ?? []).map(definition => readDefinition(definition, { as: 'functions' })),
    ...(search === undefined ? [] : [readSearch(search)]),
  ]
}

function readTool(wire: JsonObject): Tool {
  const type = text(wire['type'])
  if (isFlat(wire)) return readFlatTool(wire)
  if (type === 'custom') return readCustom(wire, required(object(wire['custom'])))
  if (type !== undefined && type !== 'function') return { type: 'opaque', format: FORMAT, value: wire }
  const definition = required(object(wire['function']))
  const spelt = wire['type'] === undefined ? { type: 'absent' } : undefined
  return {
    ...readFunction(definition),
    ...readCache(wire),
    ...nested(FORMAT, wire, 'function', definition, TAKEN.definition, TAKEN.tool, spelt),
  }
}

const readDefinition = (wire: JsonObject, spelt: JsonObject): FunctionTool => ({
  ...readFunction(wire),
  ...rest(FORMAT, wire, TAKEN.definition, spelt),
})

function readCustom(wire: JsonObject, custom: JsonObject): Tool {
  const format = object(custom['format'])
  const grammar = format?.['type'] === 'grammar' && isObject(format['grammar']) ? format['grammar'] : undefined
  const known = grammar !== undefined && Object.keys(grammar).length === 2 && Object.keys(format!).length === 2
  const syntax = grammar?.['syntax']
  const definition = grammar?.['definition']
  const readable = known && typeof syntax === 'string' && typeof definition === 'string'
  return {
    type: 'freeform',
    name: required(text(custom['name'])),
    ...defined({ description: text(custom['description']) }),
    ...(readable ? { grammar: { syntax, definition } } : {}),
    ...nested(FORMAT, wire, 'custom', custom, readable ? TAKEN.custom : TAKEN_FREE, TAKEN.tool),
  }
}

const TAKEN_FREE = new Set(['name', 'description'])

function readSearch(wire: JsonObject): HostedTool {
  const place = isObject(wire['user_location']) ? wire['user_location'] : undefined
  const approximate = isObject(place?.['approximate']) ? place['approximate'] : undefined
  const plain =
    approximate !== undefined && Object.keys(place!).length === 2 && Object.entries(approximate).every(isPlace)
  return {
    type: 'hosted',
    kind: 'web-search',
    ...defined({ contextSize: text(wire['search_context_size']) }),
    ...(plain ? { location: approximate as NonNullable<HostedTool['location']> } : {}),
    ...rest(FORMAT, wire, plain ? TAKEN.search : new Set(['search_context_size']), { as: 'web_search_options' }),
  }
}

const PLACE = new Set(['city', 'country', 'region', 'timezone'])
const isPlace = ([key, value]: [string, Json]): boolean => PLACE.has(key) && typeof value === 'string'

/**
 * `tool_choice`, or the deprecated `function_call` where it stands alone; a choice of an unknown kind is kept in
 * extras.
 */
export function readToolChoice(wire: JsonObject, refused: string[]): ToolChoice | undefined {
  const choice = wire['tool_choice'] ?? undefined
  const legacy = wire['function_call'] ?? undefined
  if (legacy !== undefined && typeof legacy !== 'string' && !isObject(legacy)) throw WrongType.instance
  if (choice !== undefined) {
    if (legacy !== undefined) refused.push('function_call')
    return readChoice(choice, 'tool_choice')
  }
  if (legacy === undefined) return undefined
  const spelling = { [FORMAT]: { as: 'function_call' } }
  if (isObject(legacy) && typeof legacy['name'] === 'string' && Object.keys(legacy).length === 1)
    return { mode: 'required', only: [legacy['name']], spelling }
  return { ...readChoice(legacy, 'function_call'), spelling }
}

const MODES = new Set<Json>(['auto', 'none', 'required'])

function readChoice(wire: Json, field: 'tool_choice' | 'function_call'): ToolChoice {
  if (typeof wire === 'string') {
    if (MODES.has(wire)) return { mode: wire as ToolChoice['mode'] }
    return { mode: 'auto', extras: { [FORMAT]: { [field]: wire } } }
  }
  if (!isObject(wire)) throw WrongType.instance
  const known = field === 'tool_choice' ? (readForced(wire) ?? readFlatChoice(wire) ?? readAllowed(wire)) : undefined
  return known ?? { mode: isOptional(wire) ? 'auto' : 'required', extras: { [FORMAT]: { [field]: wire } } }
}

/** A list of tools that may be called, whatever is in it. */
const isOptional = ({ type, allowed_tools: allowed }: JsonObject): boolean =>
  type === 'allowed_tools' && isObject(allowed) && allowed['mode'] === 'auto'

/** `{ type: "function", function: { name } }`, and the same with `custom`. */
function readForced(wire: JsonObject): ToolChoice | undefined {
  const type = wire['type']
  const chosen = typeof type === 'string' ? wire[type] : undefined
  if ((type !== 'function' && type !== 'custom') || !isObject(chosen) || typeof chosen['name'] !== 'string')
    return undefined
  if (Object.keys(wire).length !== 2 || Object.keys(chosen).length !== 1) return undefined
  return {
    mode: 'required',
    only: [chosen['name']],
    ...(type === 'custom' ? { spelling: { [FORMAT]: { as: 'custom' } } } : {}),
  }
}

/** `allowed_tools` of functions only; any other list stays in extras. */
function readAllowed(wire: JsonObject): ToolChoice | undefined {
  const allowed = wire['type'] === 'allowed_tools' ? wire['allowed_tools'] : undefined
  if (!isObject(allowed) || Object.keys(wire).length !== 2 || Object.keys(allowed).length !== 2) return undefined
  const { mode, tools } = allowed
  if ((mode !== 'auto' && mode !== 'required') || !Array.isArray(tools)) return undefined
  const forced = tools.map(tool =>
    isObject(tool) && tool['type'] === 'function' ? readForced(tool)?.only?.[0] : undefined,
  )
  if (forced.some(name => name === undefined)) return undefined
  return { mode, only: texts(forced as string[])!, spelling: { [FORMAT]: { as: 'allowed_tools' } } }
}
