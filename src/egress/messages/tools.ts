import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FunctionTool, HostedKind, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined, extrasFor } from '../fields.ts'
import { hasOddArguments, withPlainArguments } from '../sanitize/argument-names.ts'
import { argumentSchema, dropStrictness, strictSchema } from '../sanitize/closed-schema.ts'
import { runsAt } from '../sanitize/hosted-tools.ts'
import { reportNoChoice } from '../sanitize/limits.ts'
import { isRecursive } from '../sanitize/recursive-schema.ts'
import { SUBSETS } from '../sanitize/schema-subsets.ts'
import { type Block, FORMAT, type Marker, type Tools, type WriteContext, writeCache } from './context.ts'
import { acceptedTool } from './previews.ts'

/** Value for a request without tools. */
const NO_TOOLS: Tools = { wire: [], names: new Set(), none: false }

/**
 * Writes the tools that the tool choice allows. Names must be unique, so a later tool with the same name is dropped.
 */
export function writeTools(request: CanonicalRequest, context: WriteContext): Tools {
  const { tools = [], toolChoice } = request
  if (request.tools === undefined && toolChoice === undefined) return NO_TOOLS
  const wire: JsonObject[] = []
  const names = new Set<string>()
  let last: Marker | undefined
  const isAllowed = allowedBy(toolChoice)
  const excludesAll = isAllowed !== undefined && !tools.some(isAllowed)
  const offersAll = excludesAll || namesOne(toolChoice, context)
  for (const [index, tool] of tools.entries()) {
    const path: Path = ['tools', index]
    const name = nameOf(tool)
    if (name !== undefined && names.has(name)) {
      context.losses.drop(path, 'names-are-unique')
      continue
    }
    if (!offersAll && isAllowed?.(tool) === false) {
      context.losses.dropRestored(path, 'not-allowed-by-the-choice')
      continue
    }
    const writtenTool = writeTool(tool, path, context)
    if (writtenTool === undefined) continue
    if (name !== undefined) names.add(name)
    wire.push(writtenTool)
    last = tool.type === 'opaque' ? undefined : { block: writtenTool as Block, path }
  }
  return { wire, names, none: excludesAll, last }
}

function writeTool(tool: Tool, path: Path, context: WriteContext): JsonObject | undefined {
  if (tool.type === 'opaque') return tool.format === FORMAT ? acceptedTool(tool.value, tool, path, context) : undefined
  if (tool.type === 'hosted') return writeHosted(tool, path, context)
  if (tool.type === 'function') return writeFunction(tool, path, context)
  return context.losses.drop(path, 'no-freeform-tools')
}

function writeFunction(tool: FunctionTool, path: Path, context: WriteContext): Block {
  const { name, description } = tool
  const strict = writeStrict(tool, path, context)
  const input_schema = writeSchema({ ...tool, strict }, path, context)
  const block = defined({ name, description, input_schema, strict })
  const extras = acceptedTool(extrasFor(tool, FORMAT), tool, path, context)
  return writeCache({ ...(block as Block), ...extras }, tool, path, context)
}

/** A tool with the strictness that is written. */
type WrittenTool = Pick<FunctionTool, 'parameters'> & { readonly strict: boolean | undefined }

/**
 * Returns the strictness of a tool, or undefined if the upstream refuses the field (docs/wire/converse.md#tools), a
 * strict schema that refers to itself (docs/wire/messages.md#tools), or the name of an argument.
 */
function writeStrict(tool: FunctionTool, path: Path, { dialect, losses }: WriteContext): boolean | undefined {
  const { strict, parameters = {} } = tool
  if (dialect.strict_tools === false) return dropStrictness(tool, path, losses)
  if (strict !== true) return strict
  if (isRecursive(parameters)) return losses.drop([...path, 'strict'], 'no-recursive-schemas')
  const isRenamed = dialect.argument_names === 'plain' && hasOddArguments(argumentSchema(parameters))
  return isRenamed ? losses.drop([...path, 'strict'], 'plain-argument-names') : strict
}

/** Writes the argument schema, which must be an object schema. In a strict schema, all objects are closed. */
function writeSchema({ parameters, strict }: WrittenTool, path: Path, { dialect, losses }: WriteContext): JsonObject {
  const at = [...path, 'parameters']
  if (parameters === undefined) {
    const empty: JsonObject = strict === true ? { type: 'object', additionalProperties: false } : { type: 'object' }
    losses.add(at, empty, 'minted-empty-schema')
    return empty
  }
  const declaredSchema = argumentSchema(parameters)
  const plainSchema = dialect.argument_names === 'plain' ? withPlainArguments(declaredSchema) : declaredSchema
  const closed = strict === true ? strictSchema(plainSchema) : plainSchema
  const schema = SUBSETS[dialect.schemas ?? 'any'](closed)
  if (JSON.stringify(schema) !== JSON.stringify(parameters)) losses.change(at, schema, 'schema-made-legal')
  return schema
}

/** Fields that each kind of hosted tool lacks, with their loss reasons. */
const HOSTED_LOSSES: { readonly [K in HostedKind]: { readonly [field: string]: string } } = {
  'web-search': { contextSize: 'no-context-size' },
  'web-fetch': { contextSize: 'no-context-size', location: 'no-location' },
  'code-execution': {
    ...{ contextSize: 'no-context-size', location: 'no-location', maxUses: 'no-limit-of-uses' },
    ...{ allowedDomains: 'no-domain-filter', blockedDomains: 'no-domain-filter' },
  },
}

function writeHosted(tool: HostedTool, path: Path, context: WriteContext): Block | undefined {
  if (!runsAt(tool, context.dialect)) return context.losses.drop(path, 'no-hosted-tools')
  const fields = hostedFields(tool, path, context.losses)
  const extras = acceptedTool(extrasFor(tool, FORMAT), tool, path, context)
  return writeCache({ ...HOSTED[tool.kind], ...fields, ...extras }, tool, path, context)
}

/**
 * Writes a hosted tool's settings. The format allows at most one list of domains, which must not be empty, and requires
 * at least one use.
 */
function hostedFields(tool: HostedTool, path: Path, losses: Losses): JsonObject {
  const lossReasons: { [field: string]: string } = { ...HOSTED_LOSSES[tool.kind] }
  if ((tool.allowedDomains?.length ?? 0) > 0 && tool.blockedDomains !== undefined)
    lossReasons['blockedDomains'] ??= 'one-list-of-domains'
  if (tool.maxUses !== undefined && tool.maxUses <= 0) lossReasons['maxUses'] ??= 'at-least-one-use'
  const dropped = new Set(Object.keys(lossReasons))
  for (const field of ['allowedDomains', 'blockedDomains'] as const) {
    if (tool[field]?.length !== 0) continue
    delete lossReasons[field]
    dropped.add(field)
    losses.dropRestored([...path, field], 'an-empty-list')
  }
  losses.dropFields(tool, path, lossReasons)
  const isKept = (field: keyof HostedTool): boolean => !dropped.has(field) && tool[field] !== undefined
  return {
    ...(isKept('allowedDomains') ? { allowed_domains: tool.allowedDomains! } : {}),
    ...(isKept('blockedDomains') ? { blocked_domains: tool.blockedDomains! } : {}),
    ...(isKept('maxUses') ? { max_uses: tool.maxUses! } : {}),
    ...(isKept('location')
      ? { user_location: { type: 'approximate', ...supportedLocation(tool.location!, path, losses) } }
      : {}),
  }
}

type Location = NonNullable<HostedTool['location']>

/** Returns the user's location. A country that is not a two-letter code (ISO 3166) is dropped. */
function supportedLocation(location: Location, path: Path, losses: Losses): Location {
  const { country, ...others } = location
  if (country === undefined || country.length === 2) return location
  losses.drop([...path, 'location', 'country'], 'countries-have-two-letters')
  return others
}

/**
 * Returns a predicate for the tools that the choice allows, or undefined if it allows all tools or forbids calls. The
 * format cannot restrict a choice to some tools, so the other tools are not offered. This changes the prompt, but only
 * when the choice changes.
 */
function allowedBy(choice: ToolChoice | undefined): ((tool: Tool) => boolean) | undefined {
  const { mode, only, hosted } = choice ?? {}
  if (only === undefined || mode === 'none') return undefined
  const names = new Set(only)
  return tool => {
    if (tool.type === 'hosted') return tool.kind === hosted
    const name = nameOf(tool)
    return name !== undefined && names.has(name)
  }
}

/** Returns true if the choice forces a single tool by name, in which case all tools can be offered. */
const namesOne = (choice: ToolChoice | undefined, { dialect }: WriteContext): boolean =>
  choice?.mode === 'required' &&
  choice.only?.length === 1 &&
  choice.hosted === undefined &&
  dialect.forced_tools !== false

/**
 * Returns true if the request forces a tool call. Manual thinking (`enabled`) does not allow forced calls and is then
 * turned off. Adaptive thinking allows them ("Define tools", section "Forcing tool use", platform.claude.com, September
 * 2026).
 */
export const forces = ({ toolChoice }: CanonicalRequest, { wire, none }: Tools, { dialect }: WriteContext): boolean =>
  toolChoice?.mode === 'required' && wire.length > 0 && !none && dialect.forced_tools !== false

/** Writes `tool_choice`, which also states whether the model may call several tools at once (trap 54). */
export function writeToolChoice(request: CanonicalRequest, tools: Tools, context: WriteContext): JsonObject {
  const { toolChoice: choice, parallelToolCalls: parallel } = request
  const nativeChoice = choice?.extras?.[FORMAT]?.['tool_choice']
  if (nativeChoice !== undefined) return { tool_choice: nativeChoice }
  if (choice === undefined && parallel === undefined) return {}
  if (tools.wire.length === 0) {
    reportNoChoice(request, context.losses)
    return {}
  }
  if (choice === undefined) context.losses.add(['toolChoice'], { mode: 'auto' }, 'minted-default-choice')
  const effective = choice ?? { mode: 'auto' }
  const wire = supportedChoice(effective, tools, context)
  const disabled = parallel === undefined ? undefined : !parallel
  const hasNoEffect = wire['type'] === 'none' && disabled !== undefined
  if (hasNoEffect) context.losses.drop(['parallelToolCalls'], 'no-tool-may-be-called')
  const several = hasNoEffect ? {} : defined({ disable_parallel_tool_use: disabled })
  return { tool_choice: { ...wire, ...several, ...extrasFor(choice, FORMAT) } as JsonObject }
}

const TYPES: { readonly [M in ToolChoice['mode']]: string } = { auto: 'auto', required: 'any', none: 'none' }

/**
 * Writes the choice in a form that the upstream accepts: at most one tool can be named, the tool must be offered, and
 * some models do not support forced calls (trap 93).
 */
function supportedChoice(choice: ToolChoice, tools: Tools, { dialect, losses }: WriteContext): JsonObject {
  const path: Path = ['toolChoice']
  const { mode, only, hosted } = choice
  const name = mode === 'required' && dialect.forced_tools !== false ? namedOf(choice, tools) : undefined
  const became = tools.none ? 'none' : mode === 'required' && dialect.forced_tools === false ? 'auto' : mode
  if (became !== mode) losses.change([...path, 'mode'], became, became === 'none' ? 'no-such-tools' : 'no-forced-tools')
  if (only !== undefined && (name === undefined || name !== only[0])) {
    if (mode === 'none' || tools.none) losses.drop([...path, 'only'], 'no-such-choice')
    else losses.dropRestored([...path, 'only'], 'others-are-not-offered')
  }
  if (hosted !== undefined && name !== HOSTED[hosted].name) losses.drop([...path, 'hosted'], 'no-such-choice')
  return name === undefined ? { type: TYPES[became] } : { type: 'tool', name }
}

/** Returns the name of the single tool that must be called, if it is offered. */
function namedOf({ only, hosted }: ToolChoice, { names }: Tools): string | undefined {
  const onlyName = only?.length === 1 ? only[0] : undefined
  const name = hosted === undefined ? onlyName : only === undefined ? HOSTED[hosted].name : undefined
  return name !== undefined && names.has(name) ? name : undefined
}

/** Names and versions of hosted tools. Native callers choose the version themselves. */
const HOSTED: { readonly [K in HostedKind]: { readonly name: string; readonly type: string } } = {
  'web-search': { type: 'web_search_20250305', name: 'web_search' },
  'web-fetch': { type: 'web_fetch_20250910', name: 'web_fetch' },
  'code-execution': { type: 'code_execution_20250825', name: 'code_execution' },
}

/** Returns the tool's name on the wire, or undefined for tools of other formats and for nameless tools. */
function nameOf(tool: Tool): string | undefined {
  if (tool.type === 'hosted') return HOSTED[tool.kind].name
  if (tool.type !== 'opaque') return tool.name
  const name = tool.format === FORMAT ? tool.value['name'] : undefined
  return typeof name === 'string' ? name : undefined
}
