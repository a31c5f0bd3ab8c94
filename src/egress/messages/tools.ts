import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FunctionTool, HostedKind, HostedTool, Tool } from '../../canonical/tool.ts'
import { defined, kept } from '../fields.ts'
import { writeCache } from './cache.ts'
import { type Block, FORMAT, type Marker, type Tools, type WriteContext } from './context.ts'
import { argumentSchema, strictSchema } from './schema.ts'
import { allowing, namesOne } from './tool-choice.ts'
import { HOSTED, nameOf } from './tool-names.ts'

export function writeTools(request: CanonicalRequest, context: WriteContext): Tools {
  const { tools = [], toolChoice } = request
  const wire: JsonObject[] = []
  const names = new Set<string>()
  let last: Marker | undefined
  const allows = allowing(toolChoice)
  const none = allows !== undefined && !tools.some(allows)
  const all = none || namesOne(toolChoice, context)
  for (const [index, tool] of tools.entries()) {
    const path: Path = ['tools', index]
    const name = nameOf(tool)
    if (name !== undefined && names.has(name)) {
      context.losses.drop(path, 'names-are-unique')
      continue
    }
    if (!all && allows?.(tool) === false) {
      context.losses.hide(path, 'not-allowed-by-the-choice')
      continue
    }
    const written = writeTool(tool, path, context)
    if (written === undefined) continue
    if (name !== undefined) names.add(name)
    wire.push(written)
    last = tool.type === 'opaque' ? undefined : { block: written as Block, path }
  }
  return { wire, names, none, last }
}

function writeTool(tool: Tool, path: Path, context: WriteContext): JsonObject | undefined {
  if (tool.type === 'opaque') return tool.format === FORMAT ? tool.value : undefined
  if (tool.type === 'hosted') return writeHosted(tool, path, context)
  if (tool.type === 'function') return writeFunction(tool, path, context)
  context.losses.drop(path, 'no-freeform-tools')
  return undefined
}

function writeFunction(tool: FunctionTool, path: Path, context: WriteContext): Block {
  const { name, description, strict } = tool
  const input_schema = writeSchema(tool, path, context)
  const block = defined({ name, description, input_schema, strict })
  return writeCache({ ...(block as Block), ...kept(tool, FORMAT) }, tool, path, context)
}

/** A schema of an object is required; a strict one is closed. */
function writeSchema({ parameters, strict }: FunctionTool, path: Path, { losses }: WriteContext): JsonObject {
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

/** Fields that a kind of hosted tool does not have. */
const UNSUPPORTED: { readonly [K in HostedKind]: { readonly [field: string]: string } } = {
  'web-search': { contextSize: 'no-context-size' },
  'web-fetch': { contextSize: 'no-context-size', location: 'no-location' },
  'code-execution': {
    ...{ contextSize: 'no-context-size', location: 'no-location', maxUses: 'no-limit-of-uses' },
    ...{ allowedDomains: 'no-domain-filter', blockedDomains: 'no-domain-filter' },
  },
}

function writeHosted(tool: HostedTool, path: Path, context: WriteContext): Block {
  const fields = hostedFields(supportedHosted(tool, path, context))
  return writeCache({ ...HOSTED[tool.kind], ...fields, ...kept(tool, FORMAT) }, tool, path, context)
}

const hostedFields = ({ allowedDomains, blockedDomains, maxUses, location }: HostedTool): JsonObject =>
  defined({
    allowed_domains: allowedDomains,
    blocked_domains: blockedDomains,
    max_uses: maxUses,
    user_location: location === undefined ? undefined : { type: 'approximate', ...location },
  }) as JsonObject

type Place = NonNullable<HostedTool['location']>

/** At most one list of domains, not empty, and at least one use. */
function supportedHosted(tool: HostedTool, path: Path, { losses }: WriteContext): HostedTool {
  const faults: { [field: string]: string } = { ...UNSUPPORTED[tool.kind] }
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
  const supported = Object.fromEntries(
    Object.entries(tool).filter(([field]) => !gone.has(field)),
  ) as unknown as HostedTool
  return supported.location === undefined
    ? supported
    : { ...supported, location: supportedPlace(supported.location, path, losses) }
}

/** A country has the two letters of ISO 3166, or is left out. */
function supportedPlace(place: Place, path: Path, losses: Losses): Place {
  const { country, ...others } = place
  if (country === undefined || country.length === 2) return place
  losses.drop([...path, 'location', 'country'], 'countries-have-two-letters')
  return others
}
