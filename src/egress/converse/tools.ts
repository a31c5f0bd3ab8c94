import type { Budget } from '../../canonical/budget.ts'
import { append } from '../../canonical/lists.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { defined, type Json, type JsonObject } from '../../canonical/node.ts'
import { narrowed } from '../../canonical/openapi-schema.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FunctionTool, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import type { ConverseDialect } from '../../formats/dialects/converse.ts'
import { SYSTEM_TOOLS } from '../../formats/settings/converse.ts'
import { extrasFor } from '../fields.ts'
import { hasOddArguments, withPlainArguments } from '../sanitize/argument-names.ts'
import { argumentSchema, dropStrictness, strictSchema } from '../sanitize/closed-schema.ts'
import { reportNoChoice } from '../sanitize/limits.ts'
import { isRecursive } from '../sanitize/recursive-schema.ts'
import { type Block, FORMAT, type MarkableEnd, type WriteContext, writeCachePoint } from './context.ts'

/** Tools in the upstream's form. */
export interface Tools {
  readonly wire: readonly JsonObject[]
  readonly names: ReadonlySet<string>
  /** The end of the tools, if a cache point may follow the last one. */
  readonly end?: MarkableEnd
}

const NO_TOOLS: Tools = { wire: [], names: new Set() }

/**
 * Writes the tools that the tool choice allows, without duplicate names. The format cannot forbid calls, so if calls
 * are forbidden and the history has none, no tools are offered (docs/wire/converse.md#tools).
 */
export function writeTools(request: CanonicalRequest, context: WriteContext): Tools {
  const { tools = [], toolChoice } = request
  const usedNames = usedToolNames(request)
  if (tools.length === 0 && usedNames.length === 0) return NO_TOOLS
  if (toolChoice?.mode === 'none' && usedNames.length === 0) return withoutTools(tools, context)
  const wire: Block[] = []
  const names = new Set<string>()
  let end: MarkableEnd | undefined
  const isOffered = offeredBy(toolChoice, tools, context)
  for (const [index, tool] of tools.entries()) {
    const path: Path = ['tools', index]
    const name = nameOf(tool)
    if (name !== undefined && names.has(name)) context.losses.drop(path, 'names-are-unique')
    else if (!isOffered(tool)) context.losses.dropRestored(path, 'not-allowed-by-the-choice')
    else {
      const entries = writeTool(tool, path, context)
      if (entries.length > 0 && name !== undefined) names.add(name)
      if (entries.length > 0) end = isMarkableTool(tool, context) ? { blocks: wire, path } : undefined
      append(wire, entries)
    }
  }
  if (wire.length === 0 && usedNames.length > 0) return declareUsedTools(usedNames, request, context)
  return end === undefined ? { wire, names } : { wire, names, end }
}

const isMarkableTool = ({ type }: Tool, { dialect }: WriteContext): boolean =>
  type !== 'opaque' && dialect.tool_cache_points !== false

/** Reports tools that are not offered because the model must not call any. */
function withoutTools(tools: readonly Tool[], { losses, dialect }: WriteContext): Tools {
  tools.forEach((tool, index) => {
    if (tool.type === 'hosted' && systemToolOf(tool, dialect) === undefined)
      losses.drop(['tools', index], 'no-hosted-tools')
    else if (tool.type !== 'opaque' || tool.format === FORMAT) losses.dropRestored(['tools', index], 'no-calls-wanted')
  })
  return NO_TOOLS
}

/** Returns the tool names of calls and results in the history. */
function usedToolNames({ messages }: CanonicalRequest): readonly string[] {
  const names = new Set<string>()
  for (const { role, content } of messages)
    for (const part of content) {
      if (part.type === 'tool-call' && role === 'assistant') names.add(part.name)
      if (part.type === 'tool-result' && role === 'tool' && names.size === 0) names.add(DEFAULT_TOOL_NAME)
    }
  if (names.size > 1) names.delete(DEFAULT_TOOL_NAME)
  return [...names]
}

/** Name of the tool declared for results without calls. */
const DEFAULT_TOOL_NAME = 'tool'

/** Declares the tools used in the history, because upstreams refuse calls of undeclared tools. */
function declareUsedTools(usedNames: readonly string[], { tools }: CanonicalRequest, { losses }: WriteContext): Tools {
  const declaredTools = usedNames.map((name): FunctionTool => ({ type: 'function', name, parameters: EMPTY_SCHEMA }))
  if (tools === undefined) losses.add(['tools'], declaredTools, 'calls-need-declarations')
  else for (const tool of declaredTools) losses.insert(['tools', tools.length], tool, 'calls-need-declarations')
  const wire = declaredTools.map(({ name }) => ({ toolSpec: { name, inputSchema: { json: EMPTY_SCHEMA } } }))
  return { wire, names: new Set(usedNames) }
}

const EMPTY_SCHEMA: JsonObject = { type: 'object' }

function writeTool(tool: Tool, path: Path, context: WriteContext): readonly Block[] {
  if (tool.type === 'opaque') return tool.format === FORMAT ? [{ ...tool.value }] : []
  const written = tool.type === 'freeform' ? undefined : writeKnown(tool, path, context)
  if (written === undefined) {
    context.losses.drop(path, tool.type === 'hosted' ? 'no-hosted-tools' : 'no-freeform-tools')
    return []
  }
  const point = tool.type === 'freeform' ? undefined : writeToolPoint(tool, path, context)
  return point === undefined ? [written] : [written, point]
}

/** Writes the cache point of a tool, which some models take in turns only. */
function writeToolPoint(tool: FunctionTool | HostedTool, path: Path, context: WriteContext): Block | undefined {
  if (context.dialect.tool_cache_points !== false) return writeCachePoint(tool, path, context)
  return tool.cache === undefined ? undefined : context.losses.drop([...path, 'cache'], 'no-cache-markers-here')
}

/** Writes a function, or a system tool of the model. Returns undefined if the model lacks the tool. */
function writeKnown(tool: FunctionTool | HostedTool, path: Path, context: WriteContext): Block | undefined {
  if (tool.type === 'function') return writeFunction(tool, path, context)
  const name = systemToolOf(tool, context.dialect)
  if (name === undefined) return undefined
  context.losses.dropFields(tool, path, HOSTED_LOSSES)
  return { systemTool: { name, ...extrasFor(tool, FORMAT) } }
}

/** Fields of hosted tools that system tools lack, with their loss reasons. */
const HOSTED_LOSSES = {
  ...{ allowedDomains: 'no-domain-filter', blockedDomains: 'no-domain-filter', maxUses: 'no-limit-of-uses' },
  ...{ contextSize: 'no-context-size', location: 'no-location' },
} as const

/** Returns the name of the equivalent system tool, or undefined if the model has none. */
const systemToolOf = ({ kind }: HostedTool, { system_tools }: ConverseDialect): string | undefined =>
  system_tools === true ? SYSTEM_TOOLS[kind] : undefined

function writeFunction(tool: FunctionTool, path: Path, context: WriteContext): Block {
  const { name } = tool
  const { losses } = context
  const strict = writeStrict(tool, path, context)
  const isBlank = tool.description?.trim() === ''
  if (isBlank) losses.dropRestored([...path, 'description'], 'blank-description')
  const description = isBlank ? undefined : tool.description
  const spec = { name, description, inputSchema: { json: writeSchema(tool, strict, path, context) }, strict }
  return { toolSpec: { ...(defined(spec) as JsonObject), ...extrasFor(tool, FORMAT) } }
}

/**
 * Returns true for a strict tool of a model that takes `strict`, unless its schema refers to itself or has arguments with
 * odd names. Other models refuse the field, even if it is false (docs/wire/converse.md#tools).
 */
function writeStrict(tool: FunctionTool, path: Path, { dialect, losses }: WriteContext): true | undefined {
  const { strict, parameters = {} } = tool
  if (strict !== true || dialect.strict_tools !== true) return dropStrictness(tool, path, losses)
  if (isRecursive(parameters)) return losses.drop([...path, 'strict'], 'no-recursive-schemas')
  const isRenamed = dialect.argument_names === 'plain' && hasOddArguments(argumentSchema(parameters))
  return isRenamed ? losses.drop([...path, 'strict'], 'plain-argument-names') : true
}

/** Writes the argument schema, which must be an object schema. A strict schema is closed. */
function writeSchema(
  { parameters }: FunctionTool,
  strict: true | undefined,
  path: Path,
  context: WriteContext,
): JsonObject {
  const { dialect, losses, budget } = context
  const at = [...path, 'parameters']
  if (parameters === undefined) {
    const isClosed = strict === true && dialect.plain_schemas !== true
    const emptySchema: JsonObject = isClosed ? { ...EMPTY_SCHEMA, additionalProperties: false } : EMPTY_SCHEMA
    losses.add(at, emptySchema, 'minted-empty-schema')
    return emptySchema
  }
  const declaredSchema = argumentSchema(parameters)
  const objectSchema = dialect.argument_names === 'plain' ? withPlainArguments(declaredSchema) : declaredSchema
  const closedSchema = strict === true ? strictSchema(objectSchema) : objectSchema
  const schema = dialect.plain_schemas === true ? plainSchema(closedSchema, budget) : closedSchema
  if (JSON.stringify(schema) !== JSON.stringify(parameters)) losses.change(at, schema, 'schema-made-legal')
  return schema
}

/** Inlines the references of a schema, and removes every keyword at its top but those that describe its properties. */
function plainSchema(schema: JsonObject, budget: Budget): JsonObject {
  const { type, properties, required } = JSON.stringify(schema).includes('"$ref":') ? narrowed(schema, budget) : schema
  return defined({ type, properties, required }) as JsonObject
}

/**
 * Returns a predicate for the tools to offer. The format can force a single tool, which some models do not take, but
 * cannot restrict the choice otherwise, so excluded tools are not offered. If none of the allowed tools exists, all
 * tools are offered.
 */
function offeredBy(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  { dialect }: WriteContext,
): (tool: Tool) => boolean {
  const { only, mode } = choice ?? {}
  const isNamed = mode === 'required' && only?.length === 1 && dialect.named_tools !== false
  if (only === undefined || mode === 'none' || isNamed) return () => true
  const names = new Set(only)
  const isAllowed = (tool: Tool): boolean => names.has(nameOf(tool) ?? '')
  return tools.some(isAllowed) ? isAllowed : () => true
}

/** Returns true if the request forces a tool call. */
export const forces = ({ toolChoice }: CanonicalRequest, { wire }: Tools, { dialect }: WriteContext): boolean =>
  toolChoice?.mode === 'required' && wire.length > 0 && dialect.forced_tools !== false

/** Writes the tool choice: any tool, one particular tool, or the model's own choice. */
export function writeToolChoice(request: CanonicalRequest, tools: Tools, context: WriteContext): Json | undefined {
  const { toolChoice: choice, parallelToolCalls: parallel } = request
  const { losses } = context
  if (tools.wire.length === 0) {
    reportNoChoice(request, losses)
    return undefined
  }
  if (parallel === true) losses.dropRestored(['parallelToolCalls'], 'allowed-anyway')
  else if (parallel === false) losses.drop(['parallelToolCalls'], 'no-switch-for-parallel-calls')
  if (choice === undefined) return undefined
  const nativeChoice = choice.extras?.[FORMAT]?.['toolChoice']
  return nativeChoice ?? supportedChoice(choice, tools, context)
}

function supportedChoice(choice: ToolChoice, { names }: Tools, { dialect, losses }: WriteContext): Json | undefined {
  const { mode, only, hosted } = choice
  const path: Path = ['toolChoice']
  if (mode === 'none') return losses.drop(path, 'calls-cannot-be-forbidden')
  if (hosted !== undefined)
    losses.drop(
      [...path, 'hosted'],
      dialect.system_tools === true ? 'hosted-tools-cannot-be-forced' : 'no-hosted-tools',
    )
  if (dialect.forced_tools === false) return dropChoice(mode, losses)
  const isForced = mode === 'required'
  const isNamed = isForced && dialect.named_tools !== false && only?.length === 1
  const name = isNamed && names.has(only[0]!) ? only[0]! : undefined
  if (name !== undefined) return { tool: { name } }
  if (only !== undefined) losses.dropRestored([...path, 'only'], 'others-are-not-offered')
  return isForced ? { any: {} } : { auto: {} }
}

/** Leaves the choice to the model, which is the default, because some models refuse every field of `toolChoice`. */
function dropChoice(mode: ToolChoice['mode'], losses: Losses): undefined {
  if (mode === 'required') losses.drop(['toolChoice'], 'no-forced-tools')
  else losses.dropRestored(['toolChoice'], 'the-default')
}

/** Returns a tool's name, or undefined for a tool of another format and for a nameless tool. */
function nameOf(tool: Tool): string | undefined {
  if (tool.type === 'function') return tool.name
  if (tool.type === 'hosted') return SYSTEM_TOOLS[tool.kind]
  if (tool.type !== 'opaque' || tool.format !== FORMAT) return undefined
  const { toolSpec, systemTool } = tool.value
  const name = ((toolSpec ?? systemTool) as JsonObject | undefined)?.['name']
  return typeof name === 'string' ? name : undefined
}
