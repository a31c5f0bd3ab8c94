import type { Path } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { FunctionTool, HostedKind, Tool, ToolChoice } from '../../canonical/tool.ts'
import { SYSTEM_TOOLS } from '../../formats/settings/converse.ts'
import { defined, extrasOf, flag, object, objects, required, text } from '../fields.ts'
import { cachePointOf } from './content.ts'
import { FORMAT, kindOf } from './wire.ts'

/** Reads the tools of a request. A cache point marks the tool before it. Tools of other kinds become opaque. */
export function readTools(wire: Json | undefined): readonly Tool[] | undefined {
  const entries = objects(wire)
  if (entries === undefined) return undefined
  const tools: Tool[] = []
  for (const entry of entries) {
    const point = object(entry['cachePoint'])
    if (point !== undefined) for (const field of ['type', 'ttl']) text(point[field])
    const last = tools.at(-1)
    if (last !== undefined && marksLast(entry, last))
      tools[tools.length - 1] = { ...last, cache: withWireSource(cachePointOf(entry)!, FORMAT, entry) } as Tool
    else tools.push(readTool(entry))
  }
  return tools
}

/** Returns true for a cache point that marks the tool before it. */
const marksLast = (entry: JsonObject, last: Tool): boolean =>
  (last.type === 'function' || last.type === 'hosted') &&
  last.cache === undefined &&
  kindOf(entry, CACHE_POINT_MARK) !== undefined &&
  isOnly(entry, 'cachePoint')

const CACHE_POINT_MARK = { cachePoint: true }
const KINDS = { toolSpec: true, systemTool: true }

/** Returns the path of each tool in the body. Cache points that mark a tool are skipped. */
export function toolPaths(body: JsonObject): readonly Path[] {
  const { toolConfig } = conversationIn(body)
  const entries = isObject(toolConfig) ? objects(toolConfig['tools']) : undefined
  const paths: Path[] = []
  let last: Tool | undefined
  for (const [index, entry] of (entries ?? []).entries()) {
    if (last !== undefined && marksLast(entry, last)) last = { ...last, cache: {} } as Tool
    else {
      last = readTool(entry)
      paths.push([...rootOf(body), 'toolConfig', 'tools', index])
    }
  }
  return paths
}

/**
 * Returns the path of the conversation, which is empty unless the request is for a token count, which wraps the
 * conversation.
 */
export const rootOf = (body: JsonObject): Path => (isObject(body['input']) ? ['input', 'converse'] : [])

/** Returns the conversation of a body. */
export function conversationIn(body: JsonObject): JsonObject {
  const { input } = body
  if (!isObject(input)) return body
  return isObject(input['converse']) ? input['converse'] : {}
}

const isOnly = (entry: JsonObject, kind: string): boolean =>
  Object.keys(entry).every(field => field === kind || entry[field] === null)

const FUNCTION = new Set(['name', 'description', 'inputSchema', 'strict'])
const SCHEMA = new Set(['json'])

function readTool(entry: JsonObject): Tool {
  const kind = kindOf(entry, KINDS)
  if (kind === undefined) return { type: 'opaque', format: FORMAT, value: entry }
  if (kind === 'systemTool') return readSystemTool(entry)
  const wire = required(object(entry['toolSpec']))
  const schema = object(wire['inputSchema'])
  const tool: FunctionTool = {
    type: 'function',
    name: required(text(wire['name'])),
    ...defined({
      description: text(wire['description']),
      parameters: object(schema?.['json']),
      strict: flag(wire['strict']),
    }),
  }
  const unread = schema === undefined ? undefined : extrasOf(FORMAT, schema, SCHEMA).extras
  if (unread !== undefined || !isOnly(entry, 'toolSpec'))
    return { type: 'opaque', format: FORMAT, client: true, value: entry }
  return { ...tool, ...extrasOf(FORMAT, wire, FUNCTION) }
}

const KIND_OF = new Map(Object.entries(SYSTEM_TOOLS).map(([kind, name]) => [name, kind as HostedKind]))
const NAME = new Set(['name'])

/** Reads a tool that the model runs itself. A tool that other formats lack becomes opaque. */
function readSystemTool(entry: JsonObject): Tool {
  const wire = required(object(entry['systemTool']))
  const kind = KIND_OF.get(required(text(wire['name'])))
  if (kind === undefined || !isOnly(entry, 'systemTool')) return { type: 'opaque', format: FORMAT, value: entry }
  return { type: 'hosted', kind, ...extrasOf(FORMAT, wire, NAME) }
}

const MODES: { readonly [kind: string]: ToolChoice['mode'] } = { auto: 'auto', any: 'required', tool: 'required' }

/** Reads the tool choice. A choice of an unknown kind becomes an extra. */
export function readToolChoice(wire: Json | undefined): ToolChoice | undefined {
  const choice = object(wire)
  if (choice === undefined) return undefined
  const kind = kindOf(choice, MODES)
  const inner = kind === undefined ? undefined : required(object(choice[kind]))
  const name = kind === 'tool' ? required(text(inner?.['name'])) : undefined
  if (kind === undefined || !isOnly(choice, kind) || !isPlain(inner!, name))
    return { mode: 'required', extras: { [FORMAT]: { toolChoice: choice } } }
  return { mode: MODES[kind]!, ...(name === undefined ? {} : { only: [name] }) }
}

const isPlain = (inner: JsonObject, name: string | undefined): boolean =>
  Object.keys(inner).every(field => inner[field] === null || (field === 'name' && name !== undefined))
