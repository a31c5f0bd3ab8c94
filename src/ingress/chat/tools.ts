import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { FreeformTool, FunctionTool, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined, flag, left, leftWithin, object, objects, required, text, WrongType } from '../fields.ts'
import { readCache } from './content.ts'
import { isFlat, MARKERS } from './wire.ts'

const FORMAT = 'chat'

const FIELDS = {
  function: ['name', 'description', 'parameters', 'strict'],
  custom: ['name', 'description', 'format'],
  /** With a format that is no grammar. */
  free: ['name', 'description'],
}
const setsOf = (more: readonly string[]) => ({
  function: new Set([...FIELDS.function, ...more]),
  custom: new Set([...FIELDS.custom, ...more]),
  free: new Set([...FIELDS.free, ...more]),
})
const TAKEN = setsOf([])
const TAKEN_FLAT = setsOf(['type', ...MARKERS])
const TAKEN_AROUND = new Set(['type', 'function', 'custom', ...MARKERS])

/** Functions and custom tools of `tools`, the deprecated `functions`, and the web search that is an option here. */
export function readTools(wire: JsonObject): readonly Tool[] | undefined {
  const tools = objects(wire['tools'])
  const functions = objects(wire['functions'])
  const search = object(wire['web_search_options'])
  if (tools === undefined && functions === undefined && search === undefined) return undefined
  return [
    ...(tools ?? []).map(readTool),
    ...(functions ?? []).map(definition => ({
      ...readFunction(definition),
      ...left(FORMAT, definition, TAKEN.function),
    })),
    ...(search === undefined ? [] : [readSearch(search)]),
  ]
}

/** What a tool is stands in the object of its kind, or beside the type, as in responses, whose shape Cursor sends (trap 73). */
function readTool(wire: JsonObject): Tool {
  const type = text(wire['type']) ?? 'function'
  if (type !== 'function' && type !== 'custom') return { type: 'opaque', format: FORMAT, value: wire }
  const definition = isFlat(wire) ? wire : required(object(wire[type]))
  const format = type === 'custom' ? object(definition['format']) : undefined
  const grammar = format && (definition === wire ? readFlatGrammar(format) : readGrammar(format))
  const kind = type === 'custom' && grammar === undefined ? 'free' : type
  return {
    ...(type === 'function' ? readFunction(definition) : readCustom(definition, grammar)),
    ...readCache(wire),
    ...(definition === wire
      ? left(FORMAT, wire, TAKEN_FLAT[kind])
      : leftWithin(FORMAT, wire, type, definition, TAKEN[kind], TAKEN_AROUND)),
  }
}

const readFunction = (wire: JsonObject): FunctionTool => ({
  type: 'function',
  name: required(text(wire['name'])),
  ...defined({
    description: text(wire['description']),
    parameters: object(wire['parameters']),
    strict: flag(wire['strict']),
  }),
})

type Grammar = FreeformTool['grammar']

const readCustom = (wire: JsonObject, grammar: Grammar): FreeformTool => ({
  type: 'freeform',
  name: required(text(wire['name'])),
  ...defined({ description: text(wire['description']), grammar }),
})

/** `{ type: "grammar", grammar: { syntax, definition } }`, with nothing else. */
function readGrammar({ type, grammar, ...others }: JsonObject): Grammar {
  return type === 'grammar' && isObject(grammar) ? readFlatGrammar({ type, ...grammar, ...others }) : undefined
}

function readFlatGrammar({ type, syntax, definition, ...others }: JsonObject): Grammar {
  const isPlain = type === 'grammar' && Object.keys(others).length === 0
  return isPlain && typeof syntax === 'string' && typeof definition === 'string' ? { syntax, definition } : undefined
}

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
    ...left(FORMAT, wire, plain ? SEARCH : SEARCH_ANYWHERE),
  }
}

const SEARCH = new Set(['search_context_size', 'user_location'])
const SEARCH_ANYWHERE = new Set(['search_context_size'])
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
  if (isObject(legacy) && typeof legacy['name'] === 'string' && Object.keys(legacy).length === 1)
    return { mode: 'required', only: [legacy['name']] }
  return readChoice(legacy, 'function_call')
}

const MODES = new Set<Json>(['auto', 'none', 'required'])

function readChoice(wire: Json, field: 'tool_choice' | 'function_call'): ToolChoice {
  const extras = { [FORMAT]: { [field]: wire } }
  if (typeof wire === 'string') return MODES.has(wire) ? { mode: wire as ToolChoice['mode'] } : { mode: 'auto', extras }
  if (!isObject(wire)) throw WrongType.instance
  const only = field === 'tool_choice' ? readForced(wire) : undefined
  if (only !== undefined) return { mode: 'required', only: [only] }
  const allowed = field === 'tool_choice' ? readAllowed(wire) : undefined
  return allowed ?? { mode: isOptional(wire) ? 'auto' : 'required', extras }
}

/** A list of tools that may be called, whatever is in it. */
const isOptional = ({ type, allowed_tools: allowed }: JsonObject): boolean =>
  type === 'allowed_tools' && isObject(allowed) && allowed['mode'] === 'auto'

/** The name in `{ type: "function", function: { name } }` or `{ type: "function", name }`, and the same with `custom`. */
function readForced(wire: JsonObject): string | undefined {
  const { type, name } = wire
  if ((type !== 'function' && type !== 'custom') || Object.keys(wire).length !== 2) return undefined
  if (typeof name === 'string') return name
  const chosen = wire[type]
  const isNamed = isObject(chosen) && typeof chosen['name'] === 'string' && Object.keys(chosen).length === 1
  return isNamed ? (chosen['name'] as string) : undefined
}

/** `allowed_tools` of functions only; any other list stays in extras. */
function readAllowed(wire: JsonObject): ToolChoice | undefined {
  const allowed = wire['type'] === 'allowed_tools' ? wire['allowed_tools'] : undefined
  if (!isObject(allowed) || Object.keys(wire).length !== 2 || Object.keys(allowed).length !== 2) return undefined
  const { mode, tools } = allowed
  if ((mode !== 'auto' && mode !== 'required') || !Array.isArray(tools)) return undefined
  const names = tools.map(tool => (isObject(tool) && isObject(tool['function']) ? readForced(tool) : undefined))
  return names.every(name => name !== undefined) ? { mode, only: names } : undefined
}
