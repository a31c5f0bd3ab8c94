import type { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FunctionTool, Tool } from '../../canonical/tool.ts'
import { eachSchema } from './each-schema.ts'
import { isRecursive } from './recursive-schema.ts'

/** Counts over all schemas of a request that Claude enforces. Each has a limit (docs/wire/messages.md#tools). */
interface StrictCounts {
  readonly tools: number
  /** Properties that their object does not require. */
  readonly optionals: number
  /** Schemas with `anyOf` or a list of types. */
  readonly unions: number
}

const LIMITS: StrictCounts = { tools: 20, optionals: 24, unions: 16 }

const NOTHING: StrictCounts = { tools: 0, optionals: 0, unions: 0 }

/**
 * Returns the request with strict tools up to Claude's limits. Each later tool that exceeds one is written without
 * strictness, because OpenAI's clients declare every tool as strict and OpenAI has no such limits. Returns the same
 * request if nothing exceeds a limit.
 */
export function withinStrictLimits(request: CanonicalRequest, losses: Losses): CanonicalRequest {
  const { tools, output } = request
  if (tools?.some(isStrict) !== true) return request
  let total = output.text?.shape === 'schema' ? countsOf(output.text.schema) : NOTHING
  const written = tools.map((tool, index): Tool => {
    if (!isStrict(tool) || isRecursive(tool.parameters ?? {})) return tool
    const next = sum(total, { ...countsOf(tool.parameters ?? {}), tools: 1 })
    if (isWithin(next)) {
      total = next
      return tool
    }
    losses.drop(['tools', index, 'strict'], 'limits-of-strict-tools')
    const { strict: _, ...others } = tool
    return others
  })
  return written.some((tool, index) => tool !== tools[index]) ? { ...request, tools: written } : request
}

const isStrict = (tool: Tool): tool is FunctionTool => tool.type === 'function' && tool.strict === true

const sum = (a: StrictCounts, b: StrictCounts): StrictCounts => ({
  tools: a.tools + b.tools,
  optionals: a.optionals + b.optionals,
  unions: a.unions + b.unions,
})

const isWithin = ({ tools, optionals, unions }: StrictCounts): boolean =>
  tools <= LIMITS.tools && optionals <= LIMITS.optionals && unions <= LIMITS.unions

function countsOf(schema: JsonObject): StrictCounts {
  let counts = NOTHING
  eachSchema(schema, inner => {
    counts = sum(counts, { tools: 0, optionals: optionalsOf(inner), unions: isUnion(inner) ? 1 : 0 })
    return inner
  })
  return counts
}

function optionalsOf({ properties, required }: JsonObject): number {
  const needed = new Set(Array.isArray(required) ? required : [])
  return Object.keys(properties ?? {}).filter(name => !needed.has(name)).length
}

const isUnion = ({ type, anyOf, oneOf }: JsonObject): boolean =>
  anyOf !== undefined || oneOf !== undefined || (Array.isArray(type) && type.length > 1)
