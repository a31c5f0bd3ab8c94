import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { FreeformTool, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined, extrasOf, extrasWithin, object, objects, required, text, WrongType } from '../fields.ts'
import { opaqueTool } from '../opaque-tool.ts'
import { readFreeform, readFunction, readGrammar, readLocation, readMode } from '../tools.ts'
import { readCache } from './content.ts'
import { FORMAT, isFlat, MARKERS } from './wire.ts'

const FIELDS = {
  function: ['name', 'description', 'parameters', 'strict'],
  custom: ['name', 'description', 'format'],
  /** Fields of a custom tool whose format is not a grammar. */
  free: ['name', 'description'],
}
const setsOf = (moreFields: readonly string[]) => ({
  function: new Set([...FIELDS.function, ...moreFields]),
  custom: new Set([...FIELDS.custom, ...moreFields]),
  free: new Set([...FIELDS.free, ...moreFields]),
})
const KNOWN_FIELDS = setsOf([])
const FLAT_FIELDS = setsOf(['type', ...MARKERS])
const OUTER_FIELDS = new Set(['type', 'function', 'custom', ...MARKERS])

/**
 * Reads the functions and custom tools in `tools`, the deprecated `functions`, and web search, which is an option in
 * this format.
 */
export function readTools(wire: JsonObject): readonly Tool[] | undefined {
  const tools = objects(wire['tools'])
  const functions = objects(wire['functions'])
  const search = object(wire['web_search_options'])
  if (tools === undefined && functions === undefined && search === undefined) return undefined
  return [
    ...(tools ?? []).map(readTool),
    ...(functions ?? []).map(definition => ({
      ...readFunction(definition),
      ...extrasOf(FORMAT, definition, KNOWN_FIELDS.function),
    })),
    ...(search === undefined ? [] : [readSearch(search)]),
  ]
}

/**
 * Reads one tool. Its definition is in an inner object. Cursor sends the definition next to the type, as in `responses`
 * (trap 73).
 */
function readTool(wire: JsonObject): Tool {
  const type = text(wire['type']) ?? 'function'
  if (type !== 'function' && type !== 'custom') return opaqueTool(FORMAT, wire)
  const definition = isFlat(wire) ? wire : required(object(wire[type]))
  const format = type === 'custom' ? object(definition['format']) : undefined
  const grammar = format && (definition === wire ? readGrammar(format) : readNested(format))
  const kind = type === 'custom' && grammar === undefined ? 'free' : type
  return {
    ...(type === 'function' ? readFunction(definition) : readFreeform(definition, grammar)),
    ...readCache(wire),
    ...(definition === wire
      ? extrasOf(FORMAT, wire, FLAT_FIELDS[kind])
      : extrasWithin(FORMAT, wire, type, definition, KNOWN_FIELDS[kind], OUTER_FIELDS)),
  }
}

/** Reads `{ type: "grammar", grammar: { syntax, definition } }`. Returns undefined if there are other fields. */
const readNested = ({ grammar, ...others }: JsonObject): FreeformTool['grammar'] =>
  isObject(grammar) ? readGrammar({ ...grammar, ...others }) : undefined

function readSearch(wire: JsonObject): HostedTool {
  const { user_location: around } = wire
  const approximate = isObject(around) && Object.keys(around).length === 2 ? around['approximate'] : undefined
  const location = isObject(approximate) ? readLocation(approximate) : undefined
  return {
    type: 'hosted',
    kind: 'web-search',
    ...defined({ contextSize: text(wire['search_context_size']), location }),
    ...extrasOf(FORMAT, wire, location === undefined ? SEARCH_ANYWHERE : SEARCH),
  }
}

const SEARCH = new Set(['search_context_size', 'user_location'])
const SEARCH_ANYWHERE = new Set(['search_context_size'])
/** Reads `tool_choice`, or else the deprecated `function_call`. A choice of an unknown kind becomes an extra. */
export function readToolChoice(wire: JsonObject, unreadFields: string[]): ToolChoice | undefined {
  const choice = wire['tool_choice'] ?? undefined
  const legacy = wire['function_call'] ?? undefined
  if (legacy !== undefined && typeof legacy !== 'string' && !isObject(legacy)) throw WrongType.instance
  if (choice !== undefined) {
    if (legacy !== undefined) unreadFields.push('function_call')
    return readChoice(choice, 'tool_choice')
  }
  if (legacy === undefined) return undefined
  if (isObject(legacy) && typeof legacy['name'] === 'string' && Object.keys(legacy).length === 1)
    return { mode: 'required', only: [legacy['name']] }
  return readChoice(legacy, 'function_call')
}

function readChoice(wire: Json, field: 'tool_choice' | 'function_call'): ToolChoice {
  const extras = { [FORMAT]: { [field]: wire } }
  const mode = wire === MISTRALS_REQUIRED ? 'required' : typeof wire === 'string' ? readMode(wire) : undefined
  if (typeof wire === 'string') return mode === undefined ? { mode: 'auto', extras } : { mode }
  if (!isObject(wire)) throw WrongType.instance
  const only = field === 'tool_choice' ? readForced(wire) : undefined
  if (only !== undefined) return { mode: 'required', only: [only] }
  const allowed = field === 'tool_choice' ? readAllowed(wire) : undefined
  return allowed ?? { mode: isOptional(wire) ? 'auto' : 'required', extras }
}

/** Mistral's older word for `required` (docs/wire/chat.md#tool-choice). */
const MISTRALS_REQUIRED = 'any'

/** Returns true if a choice restricts the tools without requiring a call. */
const isOptional = ({ type, allowed_tools: allowed }: JsonObject): boolean =>
  type === 'allowed_tools' && isObject(allowed) && allowed['mode'] === 'auto'

/**
 * Reads the tool name from `{ type: "function", function: { name } }` or `{ type: "function", name }`, and likewise for
 * `custom`.
 */
function readForced(wire: JsonObject): string | undefined {
  const { type, name } = wire
  if ((type !== 'function' && type !== 'custom') || Object.keys(wire).length !== 2) return undefined
  if (typeof name === 'string') return name
  const definition = wire[type]
  const isNamed = isObject(definition) && typeof definition['name'] === 'string' && Object.keys(definition).length === 1
  return isNamed ? (definition['name'] as string) : undefined
}

/** Reads `allowed_tools` if it lists only functions. Returns undefined for any other list, which becomes an extra. */
function readAllowed(wire: JsonObject): ToolChoice | undefined {
  const allowed = wire['type'] === 'allowed_tools' ? wire['allowed_tools'] : undefined
  if (!isObject(allowed) || Object.keys(wire).length !== 2 || Object.keys(allowed).length !== 2) return undefined
  const { mode, tools } = allowed
  if ((mode !== 'auto' && mode !== 'required') || !Array.isArray(tools)) return undefined
  const names = tools.map(tool => (isObject(tool) && isObject(tool['function']) ? readForced(tool) : undefined))
  return names.every(name => name !== undefined) ? { mode, only: names } : undefined
}
