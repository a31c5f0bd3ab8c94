import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyObject, defined, left } from '../fields.ts'
import { anyCount } from '../usage/counts.ts'
import { FORMAT } from './wire.ts'

const COUNTS = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'] as const

const CALLS: { readonly [field: string]: string } = {
  web_search_requests: 'web-search',
  web_fetch_requests: 'web-fetch',
}

/**
 * The whole prompt is the tokens neither read from nor written to a cache, and both of these (FORMATS §16.3, trap 20).
 */
export function readUsage(wire: JsonObject): Usage {
  const cacheRead = anyCount(wire['cache_read_input_tokens'])
  const cacheWrite = anyCount(wire['cache_creation_input_tokens'])
  const fresh = anyCount(wire['input_tokens'])
  const details = wire['output_tokens_details']
  // A value that is no count is kept as it is.
  const taken = new Set(['service_tier'])
  for (const field of COUNTS) if (anyCount(wire[field]) !== undefined) taken.add(field)
  if (isObject(details) && 'thinking_tokens' in details && onlyNumbers(details, THOUGHTS))
    taken.add('output_tokens_details')
  if (isObject(wire['server_tool_use']) && onlyNumbers(wire['server_tool_use'], CALLS)) taken.add('server_tool_use')
  for (const field of HOLLOW) if (isHollow(wire[field])) taken.add(field)
  return {
    ...defined({
      input: fresh === undefined ? undefined : fresh + (cacheRead ?? 0) + (cacheWrite ?? 0),
      cacheRead,
      cacheWrite,
      output: anyCount(wire['output_tokens']),
      reasoning: anyCount(anyObject(details)?.['thinking_tokens']),
      hostedCalls: readCalls(wire['server_tool_use']),
    }),
    ...left(FORMAT, wire, taken),
  }
}

/** Fields that are always there and may be empty: a breakdown of no tokens, an unavailable place. */
const HOLLOW = ['cache_creation', 'inference_geo']

const isHollow = (value: Json | undefined): boolean =>
  isObject(value) ? Object.values(value).every(count => count === 0) : value === 'not_available'

const THOUGHTS = { thinking_tokens: 'reasoning' }

const onlyNumbers = (wire: JsonObject, known: object): boolean =>
  Object.entries(wire).every(([key, value]) => Object.hasOwn(known, key) && anyCount(value) !== undefined)

function readCalls(wire: Json | undefined): JsonObject | undefined {
  if (!isObject(wire)) return undefined
  const calls = Object.entries(wire).filter(
    ([key, value]) => Object.hasOwn(CALLS, key) && anyCount(value) !== undefined,
  )
  return Object.fromEntries(calls.map(([key, value]) => [CALLS[key]!, value]))
}

/** The tier that served; the standard one corresponds to other formats' default. */
export function readTier(usage: JsonObject | undefined): string | undefined {
  const tier = usage?.['service_tier']
  return tier === 'standard' ? 'default' : typeof tier === 'string' ? tier : undefined
}
