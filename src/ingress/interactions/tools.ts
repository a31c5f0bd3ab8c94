import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { HostedKind, Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined, extrasOf, object, objects, required, text, texts } from '../fields.ts'
import { opaqueTool } from '../opaque-tool.ts'
import { readFunction } from '../tools.ts'
import { FORMAT } from './wire.ts'

const FUNCTION = new Set(['type', 'name', 'description', 'parameters'])
const HOSTED_FIELDS = new Set(['type'])
const SEARCH_FIELDS = new Set(['type', 'search_types'])

const HOSTED: { readonly [type: string]: HostedKind } = {
  google_search: 'web-search',
  url_context: 'web-fetch',
  code_execution: 'code-execution',
}

/** Reads the tools (docs/wire/interactions.md#tools). Tools that other formats lack become opaque. */
export const readTools = (wire: Json | undefined): readonly Tool[] | undefined => objects(wire)?.map(readTool)

function readTool(wire: JsonObject): Tool {
  const type = required(text(wire['type']))
  if (type === 'function') {
    const { strict: _, ...tool } = readFunction({ ...wire, strict: null })
    return { ...tool, ...extrasOf(FORMAT, wire, FUNCTION) }
  }
  if (!Object.hasOwn(HOSTED, type)) return opaqueTool(FORMAT, wire)
  const knownFields = isWebSearch(wire) ? SEARCH_FIELDS : HOSTED_FIELDS
  return { type: 'hosted', kind: HOSTED[type]!, ...extrasOf(FORMAT, wire, knownFields) }
}

/** Returns true for a tool that searches only the web, which is the default. */
const isWebSearch = ({ search_types: types }: JsonObject): boolean =>
  Array.isArray(types) && types.length === 1 && types[0] === 'web_search'

const MODES: { readonly [word: string]: ToolChoice['mode'] } = { auto: 'auto', any: 'required', none: 'none' }

const isMode = (word: string): boolean => Object.hasOwn(MODES, word)

/** Reads the tool choice. An unknown mode, such as `validated`, becomes an extra of `auto`. */
export function readToolChoice(wire: Json | undefined): ToolChoice | undefined {
  if (wire == null) return undefined
  if (!isObject(wire)) {
    const word = required(text(wire))
    return isMode(word) ? { mode: MODES[word]! } : { mode: 'auto', extras: { [FORMAT]: { tool_choice: word } } }
  }
  const allowed = object(wire['allowed_tools'])
  const mode = text(allowed?.['mode']) ?? 'auto'
  const only = texts(allowed?.['tools'])
  const isKnown = allowed !== undefined && isMode(mode) && Object.keys(wire).length === 1 && hasOnly(allowed, ALLOWED)
  return {
    mode: isMode(mode) ? MODES[mode]! : 'auto',
    ...defined({ only }),
    ...(isKnown ? {} : { extras: { [FORMAT]: { tool_choice: wire } } }),
  }
}

const ALLOWED = new Set(['mode', 'tools'])

const hasOnly = (wire: JsonObject, known: ReadonlySet<string>): boolean =>
  Object.keys(wire).every(field => known.has(field))
