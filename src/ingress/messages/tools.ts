import type { Path } from '../../canonical/loss.ts'
import { rowOf } from '../../canonical/maps.ts'
import { isObject, type Json, type JsonObject, wireSourceOf, withWireSource } from '../../canonical/node.ts'
import type { FunctionTool, HostedKind, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined, extrasOf, flag, number, object, objects, required, text, texts } from '../fields.ts'
import { opaqueTool } from '../opaque-tool.ts'
import { readApproximateLocation, readFunction } from '../tools.ts'
import { definedTool, readCache } from './content.ts'
import { FORMAT, HOSTED_TYPE } from './wire.ts'

/**
 * Reads the tools of a request: the caller's functions, hosted tools, and opaque tools of other types; then those that
 * system turns define (docs/wire/messages.md#tools).
 */
export function readTools({ tools, messages }: JsonObject): readonly Tool[] | undefined {
  const declared = objects(tools)?.map(readTool)
  const defined = readDefined(messages, declared ?? [])
  return defined.length === 0 ? declared : [...(declared ?? []), ...defined]
}

/** A tool that a block of a system turn defines, and the path of the definition in the body. */
interface Definition {
  readonly wire: JsonObject
  readonly path: Path
}

/**
 * Reads the tools that system turns define. Of several with one name, the last is used, and one in `tools` takes
 * precedence. Each tool records its wire value.
 */
function readDefined(messages: Json | undefined, declared: readonly Tool[]): readonly Tool[] {
  const definitions = definitionsIn(messages)
  if (definitions.length === 0) return []
  const declaredNames = new Set(declared.map(nameOf))
  const tools = new Map<string, Tool>()
  for (const { wire } of definitions) {
    const tool = readTool(wire)
    if (!declaredNames.has(nameOf(tool))) tools.set(nameOf(tool), withWireSource(tool, FORMAT, wire))
  }
  return [...tools.values()]
}

function definitionsIn(messages: Json | undefined): readonly Definition[] {
  if (!Array.isArray(messages)) return []
  const turns = messages as readonly Json[]
  return turns.flatMap((turn, at) => {
    const content = isObject(turn) && turn['role'] === 'system' ? turn['content'] : undefined
    if (!Array.isArray(content)) return []
    return (content as readonly Json[]).flatMap((block, index) => {
      const wire = isObject(block) ? definedTool(block) : undefined
      return wire === undefined ? [] : [{ wire, path: ['messages', at, 'content', index, 'tool', 'definition'] }]
    })
  })
}

/** Returns the path of each tool in the body. */
export function toolPaths({ tools, messages }: JsonObject): readonly Path[] {
  const declared = objects(tools) ?? []
  const paths = new Map<unknown, Path>(definitionsIn(messages).map(({ wire, path }) => [wire, path]))
  const defined = readDefined(messages, declared.map(readTool))
  return [
    ...declared.map((_, index): Path => ['tools', index]),
    ...defined.map(tool => paths.get(wireSourceOf(tool, FORMAT)?.wire) ?? ['messages']),
  ]
}

function nameOf(tool: Tool): string {
  if (tool.type === 'hosted') return tool.kind
  if (tool.type !== 'opaque') return tool.name
  const { type, name } = tool.value
  return JSON.stringify([type, name])
}

function readTool(wire: JsonObject): Tool {
  const type = text(wire['type'])
  if (type === undefined || type === 'custom') return readFunctionTool(wire)
  const kind = hostedKind(type)
  return kind === undefined ? opaqueTool(FORMAT, wire) : readHosted(wire, type, kind)
}

const FUNCTION = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control'])

/** Reads a function of the caller. Its type is `custom` or missing (trap 53). */
function readFunctionTool(wire: JsonObject): FunctionTool {
  return {
    ...readFunction(wire, 'input_schema'),
    ...defined({ cache: readCache(wire) }),
    ...extrasOf(FORMAT, wire, FUNCTION),
  }
}

const KINDS: { readonly [name: string]: HostedKind } = {
  web_search: 'web-search',
  web_fetch: 'web-fetch',
  code_execution: 'code-execution',
}

const hostedName = (type: string): string | undefined => HOSTED_TYPE.exec(type)?.[1]
const hostedKind = (type: string): HostedKind | undefined => KINDS[hostedName(type) ?? '']

const HOSTED = new Set(['type', 'name', 'cache_control', 'allowed_domains', 'blocked_domains', 'max_uses'])

/** Reads a tool that the upstream runs. */
function readHosted(wire: JsonObject, type: string, kind: HostedKind): HostedTool {
  const location = readApproximateLocation(wire['user_location'])
  const name = text(wire['name'])
  const knownFields = new Set(HOSTED)
  if (name !== undefined && name !== hostedName(type)) knownFields.delete('name')
  if (location !== undefined) knownFields.add('user_location')
  return {
    type: 'hosted',
    kind,
    ...defined({
      allowedDomains: domains(wire['allowed_domains']),
      blockedDomains: domains(wire['blocked_domains']),
      maxUses: number(wire['max_uses']),
      location,
      cache: readCache(wire),
    }),
    ...extrasOf(FORMAT, wire, knownFields),
  }
}

/** Reads a list of domains. An empty list counts as absent. */
const domains = (wire: Json | undefined): readonly string[] | undefined => {
  const list = texts(wire)
  return list?.length === 0 ? undefined : list
}

const CHOICE = new Set(['type', 'name', 'disable_parallel_tool_use'])
const MODES: { readonly [type: string]: ToolChoice['mode'] } = { auto: 'auto', any: 'required', none: 'none' }

/** Reads the tool choice and whether parallel calls are allowed. A choice of an unknown kind becomes an extra. */
export function readToolChoice(body: JsonObject): { toolChoice?: ToolChoice; parallelToolCalls?: boolean } {
  const wire = object(body['tool_choice'])
  if (wire === undefined) return {}
  const type = required(text(wire['type']))
  const mode = rowOf(MODES, type)
  if (mode === undefined && type !== 'tool')
    return { toolChoice: { mode: 'required', extras: { [FORMAT]: { tool_choice: wire } } } }
  const isSerial = flag(wire['disable_parallel_tool_use'])
  const choice = mode === undefined ? readForced(wire, body) : { mode }
  const knownFields = mode === undefined ? CHOICE : CHOICE_UNNAMED
  return {
    toolChoice: { ...choice, ...extrasOf(FORMAT, wire, knownFields) },
    ...(isSerial === undefined ? {} : { parallelToolCalls: !isSerial }),
  }
}

const CHOICE_UNNAMED = new Set(['type', 'disable_parallel_tool_use'])

/** Reads a forced tool by name. The tool may be a hosted one. */
function readForced(wire: JsonObject, body: JsonObject): ToolChoice {
  const name = required(text(wire['name']))
  const hosted = objects(body['tools'])
    ?.map(tool => text(tool['type']) ?? '')
    .find(type => hostedName(type) === name)
  return hosted === undefined ? { mode: 'required', only: [name] } : { mode: 'required', hosted: hostedKind(hosted)! }
}
