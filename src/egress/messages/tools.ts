import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FunctionTool, HostedKind, HostedTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { reportNoChoice } from '../choice.ts'
import { defined, kept, spelt } from '../fields.ts'
import { writeCache } from './cache.ts'
import { type Block, FORMAT, type Pen } from './content.ts'
import { argumentSchema, strictSchema } from './schema.ts'

/** The tools that can be had, with the names a choice may be made from. */
export interface Tools {
  readonly wire: readonly JsonObject[]
  readonly names: ReadonlySet<string>
}

export function writeTools(request: CanonicalRequest, pen: Pen): Tools {
  const wire: JsonObject[] = []
  const names = new Set<string>()
  for (const [index, tool] of (request.tools ?? []).entries()) {
    const path: Path = ['tools', index]
    const name = nameOf(tool)
    if (!pen.native && name !== undefined && names.has(name)) {
      pen.losses.drop(path, 'names-are-unique')
      continue
    }
    const written = writeTool(tool, path, pen)
    if (written === undefined) continue
    if (name !== undefined) names.add(name)
    wire.push(written)
  }
  return { wire, names }
}

/** Names and versions of the tools the upstream runs; callers of this format say which version they mean. */
const HOSTED: { readonly [K in HostedKind]: { readonly name: string; readonly type: string } } = {
  'web-search': { name: 'web_search', type: 'web_search_20250305' },
  'web-fetch': { name: 'web_fetch', type: 'web_fetch_20250910' },
  'code-execution': { name: 'code_execution', type: 'code_execution_20250825' },
}

function nameOf(tool: Tool): string | undefined {
  if (tool.type === 'hosted') return HOSTED[tool.kind].name
  if (tool.type !== 'opaque') return tool.name
  const name = tool.format === FORMAT ? tool.value['name'] : undefined
  return typeof name === 'string' ? name : undefined
}

function writeTool(tool: Tool, path: Path, pen: Pen): JsonObject | undefined {
  if (tool.type === 'opaque') return tool.format === FORMAT ? tool.value : undefined
  if (tool.type === 'hosted') return writeHosted(tool, path, pen)
  if (tool.type === 'function') return writeFunction(tool, path, pen)
  pen.losses.drop(path, 'no-freeform-tools')
  return undefined
}

function writeFunction(tool: FunctionTool, path: Path, pen: Pen): Block {
  const { name, description, strict } = tool
  const input_schema = pen.native ? tool.parameters : writeSchema(tool, path, pen)
  const block = defined({ ...defined({ type: spelt(tool, FORMAT)['type'] }), name, description, input_schema, strict })
  return writeCache({ ...(block as Block), ...kept(tool, FORMAT) }, tool, path, pen)
}

/** A schema is required, of an object; held to strictly, it is a closed one. */
function writeSchema({ parameters, strict }: FunctionTool, path: Path, { losses }: Pen): JsonObject {
  const at = [...path, 'parameters']
  if (parameters === undefined) {
    const empty: JsonObject = strict === true ? { type: 'object', additionalProperties: false } : { type: 'object' }
    losses.add(at, empty, 'minted-empty-schema')
    return empty
  }
  const plain = argumentSchema(parameters)
  const schema = strict === true ? strictSchema(plain) : plain
  if (JSON.stringify(schema) !== JSON.stringify(parameters)) losses.change(at, schema, 'schema-made-legal')
  return schema
}

/** What a kind of hosted tool has no word for. */
const NO_WORDS: { readonly [K in HostedKind]: { readonly [field: string]: string } } = {
  'web-search': { contextSize: 'no-context-size' },
  'web-fetch': { contextSize: 'no-context-size', location: 'no-location' },
  'code-execution': {
    ...{ contextSize: 'no-context-size', location: 'no-location', maxUses: 'no-limit-of-uses' },
    ...{ allowedDomains: 'no-domain-filter', blockedDomains: 'no-domain-filter' },
  },
}

function writeHosted(tool: HostedTool, path: Path, pen: Pen): Block {
  const { name, type } = HOSTED[tool.kind]
  const spelling = spelt(tool, FORMAT)
  const block = {
    type: spelling['type'] ?? type,
    ...(spelling['name'] === 'absent' ? {} : { name }),
    ...(pen.native ? ownFields(tool) : hostedFields(legalHosted(tool, path, pen))),
  }
  return writeCache({ ...block, ...kept(tool, FORMAT) }, tool, path, pen)
}

const hostedFields = ({ allowedDomains, blockedDomains, maxUses, location }: HostedTool): JsonObject =>
  defined({
    allowed_domains: allowedDomains,
    blocked_domains: blockedDomains,
    max_uses: maxUses,
    user_location: location === undefined ? undefined : { type: 'approximate', ...location },
  }) as JsonObject

/** With the lists that came empty. */
function ownFields(tool: HostedTool): JsonObject {
  const empty = (spelt(tool, FORMAT)['empty'] ?? []) as readonly string[]
  return { ...Object.fromEntries(empty.map(field => [field, []])), ...hostedFields(tool) }
}

type Place = NonNullable<HostedTool['location']>

/** One list of domains only, neither an empty one, and at least one use. */
function legalHosted(tool: HostedTool, path: Path, { losses }: Pen): HostedTool {
  const faults: { [field: string]: string } = { ...NO_WORDS[tool.kind] }
  if ((tool.allowedDomains?.length ?? 0) > 0 && tool.blockedDomains !== undefined)
    faults['blockedDomains'] ??= 'one-list-of-domains'
  if (tool.maxUses !== undefined && tool.maxUses <= 0) faults['maxUses'] ??= 'at-least-one-use'
  const empty = (['allowedDomains', 'blockedDomains'] as const).filter(field => tool[field]?.length === 0)
  for (const field of empty) {
    delete faults[field]
    losses.hide([...path, field], 'an-empty-list')
  }
  losses.dropFields(tool, path, faults)
  const gone = new Set<string>([...empty, ...Object.keys(faults)])
  const legal = Object.fromEntries(Object.entries(tool).filter(([field]) => !gone.has(field))) as unknown as HostedTool
  return legal.location === undefined ? legal : { ...legal, location: legalPlace(legal.location, path, losses) }
}

/** A country has the two letters of ISO 3166, or none at all. */
function legalPlace(place: Place, path: Path, losses: Losses): Place {
  const { country, ...others } = place
  if (country === undefined || country.length === 2) return place
  losses.drop([...path, 'location', 'country'], 'countries-have-two-letters')
  return others
}

/** `tool_choice`, which also says whether several tools may be called at once (trap 54). */
export function writeToolChoice(request: CanonicalRequest, tools: Tools, thinking: boolean, pen: Pen): JsonObject {
  const { toolChoice: choice, parallelToolCalls: parallel } = request
  const own = choice?.extras?.[FORMAT]?.['tool_choice']
  if (own !== undefined) return { tool_choice: own }
  if (choice === undefined && parallel === undefined) return {}
  if (!pen.native && tools.wire.length === 0) {
    reportNoChoice(request, pen.losses)
    return {}
  }
  if (choice === undefined) pen.losses.add(['toolChoice'], { mode: 'auto' }, 'minted-default-choice')
  const asked = choice ?? { mode: 'auto' }
  const wire = pen.native ? ownChoice(asked) : legalChoice(asked, tools.names, thinking, pen)
  const disabled = parallel === undefined ? undefined : !parallel
  const silent = !pen.native && wire['type'] === 'none' && disabled !== undefined
  if (silent) pen.losses.drop(['parallelToolCalls'], 'none-is-none')
  const several = silent ? {} : defined({ disable_parallel_tool_use: disabled })
  return { tool_choice: { ...wire, ...several, ...kept(choice, FORMAT) } as JsonObject }
}

const TYPES: { readonly [M in ToolChoice['mode']]: string } = { auto: 'auto', required: 'any', none: 'none' }

function ownChoice({ mode, only, hosted }: ToolChoice): JsonObject {
  const name = hosted === undefined ? only?.[0] : HOSTED[hosted].name
  return mode === 'required' && name !== undefined ? { type: 'tool', name } : { type: TYPES[mode] }
}

/** A tool must be there to be chosen, one at most can be named, and none can be forced while thinking (trap 38). */
function legalChoice(choice: ToolChoice, names: ReadonlySet<string>, thinking: boolean, { losses }: Pen): JsonObject {
  const { mode, only, hosted } = choice
  const path: Path = ['toolChoice']
  if (mode === 'required' && thinking) {
    losses.change([...path, 'mode'], 'auto', 'not-while-thinking')
    losses.dropFields(choice, path, { only: 'not-while-thinking', hosted: 'not-while-thinking' })
    return { type: 'auto' }
  }
  const one = only?.length === 1 && mode === 'required' && names.has(only[0]!) ? only[0] : undefined
  if (only !== undefined && one === undefined) losses.drop([...path, 'only'], 'no-such-choice')
  if (hosted === undefined) return one === undefined ? { type: TYPES[mode] } : { type: 'tool', name: one }
  const name = HOSTED[hosted].name
  if (mode === 'required' && one === undefined && names.has(name)) return { type: 'tool', name }
  losses.drop([...path, 'hosted'], 'no-such-choice')
  return one === undefined ? { type: TYPES[mode] } : { type: 'tool', name: one }
}
