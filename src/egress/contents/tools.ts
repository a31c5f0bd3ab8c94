import type { Path, Unwritten } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { narrowed, openApiOf } from '../../canonical/openapi-schema.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FunctionTool, HostedKind, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined } from '../fields.ts'
import { reportNoChoice } from '../sanitize/limits.ts'
import { FORMAT, nativeExtras, nestedExtras, type WriteContext, withExtras, withExtrasUnlessEmpty } from './fields.ts'

const DECLARATIONS_FIELD = 'functionDeclarations'
/** Field name that represents opaque tools, each of which becomes a separate entry. */
const OPAQUE_FIELD = ''

/** A tool as a field of an entry in `tools`. */
interface ToolField {
  readonly name: string
  readonly value: Json
  readonly index: number
}

/**
 * Writes the entries of `tools`. All functions share one entry at the index of the first function. A later function of
 * the same name is dropped: "Duplicate function declaration found" (docs/wire/contents.md#tools).
 */
export function writeTools(request: CanonicalRequest, context: WriteContext): Json | undefined {
  const { tools } = request
  if (tools === undefined) return undefined
  const mayMix = !isMixed(request) || supportsMixedTools(request)
  const offersOthers = !restrictsFunctions(request.toolChoice)
  const mayCall = !forbidsHosted(request)
  const names = new Set<string>()
  const fields = tools.flatMap((tool, index) => {
    if (tool.type === 'function' && names.has(tool.name)) {
      context.losses.drop(['tools', index], 'names-are-unique')
      return []
    }
    if (tool.type === 'function') names.add(tool.name)
    if (!offersOthers && tool.type === 'hosted') {
      context.losses.dropRestored(['tools', index], 'not-allowed-by-the-choice')
      return []
    }
    if (tool.type !== 'hosted' || (mayMix && mayCall)) return writeTool(tool, index, context)
    context.losses.drop(['tools', index], mayMix ? 'no-tool-may-be-called' : 'not-beside-functions')
    return []
  })
  const toolEntries = grouped(fields)
  const writtenIndexes = toolEntries.flat().map(({ index }) => index)
  context.losses.reorder(['tools'], writtenIndexes, tools.length, 'functions-stand-together')
  return toolEntries.length === 0 ? undefined : toolEntries.map(entryOf)
}

/**
 * Returns true if the choice allows only some functions. Their names are listed separately, so that the declarations
 * remain unchanged for the prompt cache. Hosted tools cannot be listed this way, so they are not offered in this case.
 */
const restrictsFunctions = (choice: ToolChoice | undefined): boolean =>
  choice?.only !== undefined && choice.mode !== 'none'

/** Returns true if no tool may be called and all are hosted. NONE can forbid functions only. */
const forbidsHosted = (request: CanonicalRequest): boolean =>
  request.toolChoice?.mode === 'none' && !hasFunctions(request)

/** Returns true if there are functions, or tools of the format that may be functions. */
const hasFunctions = ({ tools = [] }: CanonicalRequest): boolean =>
  tools.some(tool => tool.type === 'function' || (tool.type === 'opaque' && tool.format === FORMAT))

/** Matches models that accept either functions or hosted tools, but not both. */
const EXCLUSIVE_MODELS = /gemini-[12]\b/

const isMixed = ({ tools = [] }: CanonicalRequest): boolean =>
  tools.some(({ type }) => type === 'function') && tools.some(({ type }) => type === 'hosted')

const supportsMixedTools = ({ model }: CanonicalRequest): boolean => !EXCLUSIVE_MODELS.test(model)

/** Groups fields into entries. All functions share one entry, and every other field gets its own. */
function grouped(fields: readonly ToolField[]): readonly (readonly ToolField[])[] {
  const functions = fields.filter(({ name }) => name === DECLARATIONS_FIELD)
  return fields.flatMap(field => {
    if (field.name !== DECLARATIONS_FIELD) return [[field]]
    return field === functions[0] ? [functions] : []
  })
}

function entryOf(entry: readonly ToolField[]): JsonObject {
  const [{ name, value }] = entry as [ToolField]
  if (name === OPAQUE_FIELD) return value as JsonObject
  return { [name]: name === DECLARATIONS_FIELD ? entry.map(({ value }) => value) : value }
}

function writeTool(tool: Tool, index: number, context: WriteContext): ToolField[] {
  const path: Path = ['tools', index]
  if (tool.type === 'function') return [{ name: DECLARATIONS_FIELD, value: writeFunction(tool, path, context), index }]
  if (tool.type === 'hosted') return [{ ...writeHosted(tool, path, context), index }]
  if (tool.type === 'freeform') {
    context.losses.drop(path, 'no-freeform-tools')
    return []
  }
  if (tool.format !== FORMAT) return []
  return [{ name: OPAQUE_FIELD, value: tool.value, index }]
}
const FUNCTION_LOSSES: Unwritten<
  FunctionTool,
  'type' | 'name' | 'description' | 'parameters' | 'namespace' | 'strict'
> = { cache: 'no-cache-markers' }

function writeFunction(tool: FunctionTool, path: Path, context: WriteContext): JsonObject {
  const { name, description, parameters } = tool
  const { losses, budget, dialect } = context
  if (tool.strict === false) losses.dropRestored([...path, 'strict'], 'lax-anyway')
  else if (tool.strict !== undefined) losses.drop([...path, 'strict'], 'no-strict-tools')
  losses.dropFields(tool, path, FUNCTION_LOSSES)
  const extras = nativeExtras(tool)
  if (parameters === undefined || dialect.schema !== 'openapi')
    return defined({ name, description, parametersJsonSchema: parameters, ...extras }) as JsonObject
  const narrowedSchema = narrowed(parameters, budget)
  reportSchema(parameters, narrowedSchema, [...path, 'parameters'], context)
  return defined({ name, description, parameters: openApiOf(narrowedSchema), ...extras }) as JsonObject
}

/** Reports a schema that was reduced to the supported subset. */
export function reportSchema(
  originalSchema: JsonObject,
  narrowedSchema: JsonObject,
  path: Path,
  { losses }: WriteContext,
): void {
  if (JSON.stringify(originalSchema) !== JSON.stringify(narrowedSchema))
    losses.change(path, narrowedSchema, 'schema-narrowed')
}

const HOSTED_FIELDS: { readonly [K in HostedKind]: string } = {
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
function writeHosted(tool: HostedTool, path: Path, context: WriteContext): Pick<ToolField, 'name' | 'value'> {
  context.losses.dropFields(tool, path, HOSTED_LOSSES)
  const supportsDomains = tool.kind === 'web-search' && context.dialect.vertex === true
  if (!supportsDomains && tool.blockedDomains !== undefined)
    context.losses.drop([...path, 'blockedDomains'], 'no-list-of-domains')
  const value = defined({ excludeDomains: supportsDomains ? tool.blockedDomains : undefined, ...nativeExtras(tool) })
  return { name: HOSTED_FIELDS[tool.kind], value: value as JsonObject }
}

const MODES: { readonly [M in ToolChoice['mode']]: string } = { auto: 'AUTO', required: 'ANY', none: 'NONE' }

/**
 * Writes `toolConfig`: the tools that may be called, and the format's extras. Without functions, there is no choice:
 * "Function calling config is set without function_declarations" (docs/wire/contents.md#tool-choice).
 */
export function writeToolConfig(
  request: CanonicalRequest,
  isChoosable: boolean,
  context: WriteContext,
): JsonObject | undefined {
  const extras = nestedExtras(nativeExtras(request), 'toolConfig')
  const choice = request.toolChoice
  const combinationField = writeCombination(request, extras, context)
  if (!isChoosable) reportNoChoice(request, context.losses)
  else reportParallel(request, context)
  if (choice === undefined || !isChoosable) return withExtrasUnlessEmpty(extras, combinationField)
  if (!hasFunctions(request)) {
    reportHostedChoice(choice, context)
    return withExtrasUnlessEmpty(extras, combinationField)
  }
  const isCombined = Object.keys(combinationField).length > 0
  const choiceField = writeChoice(choice, request.tools, isCombined ? 'VALIDATED' : MODES.auto, context)
  return withExtras(extras, {
    functionCallingConfig: withExtras(nestedExtras(extras, 'functionCallingConfig'), choiceField),
    ...combinationField,
  })
}

/** Reports the setting for parallel calls as lost, because the format always allows them. */
function reportParallel({ parallelToolCalls }: CanonicalRequest, { losses }: WriteContext): void {
  if (parallelToolCalls === true) losses.dropRestored(['parallelToolCalls'], 'allowed-anyway')
  else if (parallelToolCalls === false) losses.drop(['parallelToolCalls'], 'no-switch-for-parallel-calls')
}

/** Reports a choice among hosted tools alone as lost. The model decides anyway whether it uses them. */
function reportHostedChoice({ mode }: ToolChoice, { losses }: WriteContext): void {
  if (mode === 'auto') losses.dropRestored(['toolChoice'], 'chosen-anyway')
  else losses.drop(['toolChoice'], 'hosted-tools-cannot-be-forced')
}

const COMBINATION_FLAG = 'includeServerSideToolInvocations'

/** Writes the flag that the Gemini API requires for combining hosted tools with functions. */
function writeCombination(
  request: CanonicalRequest,
  configExtras: JsonObject | undefined,
  { dialect, losses }: WriteContext,
): JsonObject {
  if (
    dialect.vertex === true ||
    !isMixed(request) ||
    !supportsMixedTools(request) ||
    restrictsFunctions(request.toolChoice)
  )
    return {}
  if (configExtras?.[COMBINATION_FLAG] !== undefined) return {}
  const became = { ...nativeExtras(request), toolConfig: { ...configExtras, [COMBINATION_FLAG]: true } }
  if (request.extras === undefined) losses.add(['extras'], { [FORMAT]: became }, 'minted-tool-config')
  else losses.add(['extras', FORMAT], became, 'minted-tool-config')
  return { [COMBINATION_FLAG]: true }
}

/**
 * Writes the tool choice. Chosen functions must be declared. If the model may call only some functions but does not
 * have to, the mode is VALIDATED (docs/wire/contents.md#tool-choice).
 *
 * @param auto the mode in which the model decides. Beside hosted tools it is VALIDATED, too.
 */
function writeChoice(
  { mode, only, hosted, extras }: ToolChoice,
  tools: readonly Tool[] = [],
  auto: string,
  { losses }: WriteContext,
): JsonObject {
  const path: Path = ['toolChoice']
  if (hosted !== undefined) losses.drop([...path, 'hosted'], 'hosted-tools-cannot-be-forced')
  if (extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  if (mode === 'none') {
    if (only !== undefined) losses.drop([...path, 'only'], 'no-tool-may-be-called')
    return { mode: 'NONE' }
  }
  if (only === undefined) return { mode: mode === 'auto' ? auto : MODES[mode] }
  const declaredNames = new Set(tools.flatMap(tool => (tool.type === 'function' ? [tool.name] : [])))
  const allowedNames = only.filter(name => declaredNames.has(name))
  if (allowedNames.length === 0) {
    losses.change([...path, 'mode'], 'none', 'no-such-tools')
    losses.drop([...path, 'only'], 'no-such-tools')
    return { mode: 'NONE' }
  }
  if (allowedNames.length < only.length) losses.change([...path, 'only'], allowedNames, 'no-such-tools')
  return { mode: mode === 'auto' ? 'VALIDATED' : 'ANY', allowedFunctionNames: allowedNames }
}
