import type { Path, Unwritten } from '../../canonical/loss.ts'
import type { Json, JsonObject, Node } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FunctionTool, HostedKind, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { spelt } from '../fields.ts'
import { reportNoChoice } from '../sanitize/choice.ts'
import { narrowed, openApiOf } from '../sanitize/schema.ts'
import { FORMAT, inner, type WriteContext, withExtras, withExtrasUnlessEmpty } from './fields.ts'

const DECLARATIONS = 'functionDeclarations'
/** For opaque tools, which are whole entries instead of a field. */
const OPAQUE = ''

/** A tool as the field of the entry it is written in. */
interface Field {
  readonly name: string
  readonly value: Json
  readonly index: number
}

/** The entries of `tools`: as the caller grouped them, or all functions in one, at the place of the first. */
export function writeTools(request: CanonicalRequest, context: WriteContext): Json | undefined {
  const { tools } = request
  if (tools === undefined) return undefined
  const mixes = context.native || !isMixed(request) || takesBoth(request)
  const others = context.native || !narrows(request.toolChoice)
  const fields = tools.flatMap((tool, index) => {
    if (!others && tool.type === 'hosted') {
      context.losses.hide(['tools', index], 'not-allowed-by-the-choice')
      return []
    }
    if (mixes || tool.type !== 'hosted') return writeTool(tool, index, context)
    context.losses.drop(['tools', index], 'not-beside-functions')
    return []
  })
  const groups = context.native ? spelt(request, FORMAT)['tools'] : undefined
  if (groups !== undefined && fields.length === tools.length) return regrouped(fields, groups)
  const entries = grouped(fields)
  if (!context.native) reportOrder(entries, tools.length, context)
  if (entries.length === 0) return undefined
  return entries.map(entryOf)
}

/**
 * Whether only some functions may be called. They are listed beside the declarations, which stay unchanged, so that the
 * prompt's cache holds; hosted tools cannot be listed there, so they are not offered then.
 */
const narrows = (choice: ToolChoice | undefined): boolean => choice?.only !== undefined && choice.mode !== 'none'

/** Models that take functions or hosted tools, but not both. */
const EITHER = /gemini-[12]\b/

const isMixed = ({ tools = [] }: CanonicalRequest): boolean =>
  tools.some(({ type }) => type === 'function') && tools.some(({ type }) => type === 'hosted')

const takesBoth = ({ model }: CanonicalRequest): boolean => !EITHER.test(model)

/** Entries of one field each. */
function grouped(fields: readonly Field[]): readonly (readonly Field[])[] {
  const functions = fields.filter(({ name }) => name === DECLARATIONS)
  return fields.flatMap(field => {
    if (field.name !== DECLARATIONS) return [[field]]
    return field === functions[0] ? [functions] : []
  })
}

function entryOf(entry: readonly Field[]): JsonObject {
  const [{ name, value }] = entry as [Field]
  if (name === OPAQUE) return value as JsonObject
  return { [name]: name === DECLARATIONS ? entry.map(({ value }) => value) : value }
}

function reportOrder(entries: readonly (readonly Field[])[], length: number, { losses }: WriteContext): void {
  const written = entries.flat().map(({ index }) => index)
  if (written.every((index, place) => place === 0 || written[place - 1]! < index)) return
  const kept = new Set(written)
  const gone = [...Array(length).keys()].filter(index => !kept.has(index))
  losses.move(['tools'], [...written, ...gone], 'functions-stand-together')
}

type Groups = readonly (readonly (readonly [string, Json])[])[]

/** The entries as the caller grouped them: each a list of field names and values, for functions their number. */
function regrouped(fields: readonly Field[], groups: Json): Json {
  let next = 0
  const single = !Array.isArray(groups)
  const entries = (single ? (groups as { single: Json }).single : groups) as unknown as Groups
  const written = entries.map(entry =>
    Object.fromEntries(
      entry.flatMap(([name, count]): [string, Json][] => {
        if (count === null) return [[name, null]]
        if (typeof count === 'number') return [[name, fields.slice(next, (next += count)).map(({ value }) => value)]]
        const value = fields[next++]?.value ?? {}
        return count === 'opaque' ? Object.entries(value as JsonObject) : [[name, value]]
      }),
    ),
  )
  return single ? written[0]! : written
}

function writeTool(tool: Tool, index: number, context: WriteContext): Field[] {
  const path: Path = ['tools', index]
  if (tool.type === 'function') return [{ name: DECLARATIONS, value: writeFunction(tool, path, context), index }]
  if (tool.type === 'hosted') return [{ ...writeHosted(tool, path, context), index }]
  if (tool.type === 'freeform') {
    context.losses.drop(path, 'no-freeform-tools')
    return []
  }
  if (tool.format !== FORMAT) return []
  return [{ name: OPAQUE, value: tool.value, index }]
}
const FUNCTION_LOSSES: Unwritten<FunctionTool, 'type' | 'name' | 'description' | 'parameters' | 'namespace' | 'cache'> =
  { strict: 'no-strict-tools' }

function writeFunction(tool: FunctionTool, path: Path, context: WriteContext): JsonObject {
  const { name, description, parameters } = tool
  const head = { name, description }
  if (context.native) {
    const own = spelt(tool, FORMAT)['parameters']
    return withExtras(
      tool,
      own === undefined ? { ...head, parametersJsonSchema: parameters } : { ...head, parameters: own },
    )
  }
  if (tool.strict === false) context.losses.hide([...path, 'strict'], 'lax-anyway')
  else context.losses.dropFields(tool, path, FUNCTION_LOSSES)
  context.losses.dropFields(tool, path, { cache: 'no-cache-markers' })
  if (parameters === undefined || context.dialect.schema !== 'openapi')
    return withExtras(undefined, { ...head, parametersJsonSchema: parameters, ...own(tool) })
  const narrow = narrowed(parameters, context.budget)
  reportSchema(parameters, narrow, [...path, 'parameters'], context)
  return withExtras(undefined, { ...head, parameters: openApiOf(narrow), ...own(tool) })
}

const own = (tool: Tool): JsonObject => ('extras' in tool ? (tool.extras?.[FORMAT] ?? {}) : {})

export function reportSchema(from: JsonObject, to: JsonObject, path: Path, { losses }: WriteContext): void {
  if (JSON.stringify(from) !== JSON.stringify(to)) losses.change(path, to, 'schema-narrowed')
}

const HOSTED: { readonly [K in HostedKind]: string } = {
  'web-search': 'googleSearch',
  'web-fetch': 'urlContext',
  'code-execution': 'codeExecution',
}

const HOSTED_LOSSES: Unwritten<HostedTool, 'type' | 'kind' | 'blockedDomains'> = {
  allowedDomains: 'no-list-of-domains',
  maxUses: 'no-limit-of-uses',
  contextSize: 'no-context-size',
  location: 'no-location-here',
  cache: 'no-cache-markers',
}
function writeHosted(tool: HostedTool, path: Path, context: WriteContext): Pick<Field, 'name' | 'value'> {
  const as = context.native ? spelt(tool, FORMAT)['as'] : undefined
  const name = typeof as === 'string' ? as : HOSTED[tool.kind]
  context.losses.dropFields(tool, path, HOSTED_LOSSES)
  const domains = tool.kind === 'web-search' && (context.native || context.dialect.vertex === true)
  if (!domains && tool.blockedDomains !== undefined)
    context.losses.drop([...path, 'blockedDomains'], 'no-list-of-domains')
  const value = { excludeDomains: domains ? tool.blockedDomains : undefined }
  return { name, value: context.native ? withExtras(tool, value) : withExtras(undefined, { ...value, ...own(tool) }) }
}

const MODES: { readonly [M in ToolChoice['mode']]: string } = { auto: 'AUTO', required: 'ANY', none: 'NONE' }

/** `toolConfig`: the tools that may be called, and the format's own extras. */
export function writeToolConfig(
  request: CanonicalRequest,
  choosable: boolean,
  context: WriteContext,
): JsonObject | undefined {
  const config = inner(request, 'toolConfig')
  const calling = inner(config, 'functionCallingConfig')
  const choice = request.toolChoice
  const together = context.native ? {} : writeTogether(request, config, context)
  if (!choosable && !context.native) reportNoChoice(request, context.losses)
  else reportParallel(request, context)
  if (choice === undefined || !(choosable || context.native)) return withExtrasUnlessEmpty(config, together)
  const chosen = context.native ? asChosen(choice, calling) : writeChoice(choice, request.tools, context)
  const functionCallingConfig = withExtras(calling, chosen)
  return withExtras(config, { functionCallingConfig, ...together })
}

/** Parallel calls are always allowed. */
function reportParallel({ parallelToolCalls }: CanonicalRequest, { losses }: WriteContext): void {
  if (parallelToolCalls === true) losses.hide(['parallelToolCalls'], 'allowed-anyway')
  else if (parallelToolCalls === false) losses.drop(['parallelToolCalls'], 'no-switch-for-parallel-calls')
}

const TOGETHER = 'includeServerSideToolInvocations'

/** The Gemini API takes its own tools beside functions only with this flag. */
function writeTogether(request: CanonicalRequest, config: Node, { dialect, losses }: WriteContext): JsonObject {
  if (dialect.vertex === true || !isMixed(request) || !takesBoth(request) || narrows(request.toolChoice)) return {}
  const configExtras = config.extras?.[FORMAT]
  if (configExtras?.[TOGETHER] !== undefined) return {}
  const own = request.extras?.[FORMAT]
  const toolConfig = { ...configExtras, [TOGETHER]: true }
  const became = { ...own, toolConfig }
  if (request.extras === undefined) losses.add(['extras'], { [FORMAT]: became }, 'minted-togetherness')
  else losses.add(['extras', FORMAT], became, 'minted-togetherness')
  return { [TOGETHER]: true }
}

function asChosen({ mode, only }: ToolChoice, calling: ReturnType<typeof inner>): JsonObject {
  const spelled = spelt(calling, FORMAT)['mode']
  const value = spelled === 'absent' ? undefined : (spelled ?? MODES[mode])
  return { mode: value, allowedFunctionNames: only } as JsonObject
}

/**
 * A choice among some functions, which must be declared; as a mode that leaves the model free it is VALIDATED (FORMATS
 * §16.4).
 */
function writeChoice(
  { mode, only, hosted, extras }: ToolChoice,
  tools: readonly Tool[] = [],
  { losses }: WriteContext,
): JsonObject {
  const path: Path = ['toolChoice']
  if (hosted !== undefined) losses.drop([...path, 'hosted'], 'hosted-tools-cannot-be-forced')
  if (extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'no-place-for-it')
  if (mode === 'none') {
    if (only !== undefined) losses.drop([...path, 'only'], 'none-is-none')
    return { mode: 'NONE' }
  }
  if (only === undefined) return { mode: MODES[mode] }
  const declared = new Set(tools.flatMap(tool => (tool.type === 'function' ? [tool.name] : [])))
  const allowed = only.filter(name => declared.has(name))
  if (allowed.length === 0) {
    losses.change([...path, 'mode'], 'none', 'no-such-tools')
    losses.drop([...path, 'only'], 'no-such-tools')
    return { mode: 'NONE' }
  }
  if (allowed.length < only.length) losses.change([...path, 'only'], allowed, 'no-such-tools')
  return { mode: mode === 'auto' ? 'VALIDATED' : 'ANY', allowedFunctionNames: allowed }
}
