import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'

/*
 * Some vendors state in the usage of an answer what they charge for it. No list of prices knows that exactly: the cost
 * depends on the provider that the vendor chose, and includes searches, files that were parsed and calls of hosted tools
 * (docs/wire/chat.md#usage).
 */

/** Number of nanodollars per dollar, and of xAI's ticks per nanodollar. */
const NANODOLLARS = 1e9
const TICKS = 10

/** Reads the stated cost of an answer in nanodollars, from the fields of a usage that have no canonical field. */
type CostReader = (wire: JsonObject) => Json | undefined

/** Readers by preset. Other servers may state a cost in another currency, or that of another account. */
const READERS: ReadonlyMap<string, CostReader> = new Map<string, CostReader>([
  ['openrouter', ({ cost, ...others }) => scaled(withOwnKey(cost, others), NANODOLLARS)],
  ['xai', ({ cost_in_usd_ticks: ticks }) => scaled(ticks, 1 / TICKS)],
])

/** Fields of a usage that state a cost. */
const COST_FIELDS: readonly string[] = ['cost', 'cost_in_usd_ticks', 'cost_details']

/** Maximum plausible cost of an answer, in nanodollars. A higher one is an upstream's mistake. */
const MAX_COST = 10_000 * NANODOLLARS

/** Returns what a vendor charges for an answer, in nanodollars, or undefined if the vendor does not state it. */
export function statedCost(provider: string, { extras }: Usage): number | undefined {
  const read = READERS.get(provider)
  if (read === undefined || extras === undefined) return undefined
  for (const format in extras) {
    const cost = read(extras[format]!)
    if (typeof cost === 'number' && cost >= 0 && cost <= MAX_COST) return Math.round(cost)
  }
  return undefined
}

/** Returns the usage without the cost that the vendor stated for it. */
export function withoutStatedCost(usage: Usage): Usage {
  const { extras } = usage
  if (extras === undefined) return usage
  const entries = Object.entries(extras).map(([format, wire]) => [format, withoutCost(wire)] as const)
  return { ...usage, extras: Object.fromEntries(entries) }
}

/** Returns the fields of a usage of which another usage states the cost. */
export const paidElsewhere = (wire: JsonObject): JsonObject =>
  COST_FIELDS.some(field => field in wire) ? { ...withoutCost(wire), cost: 0, cost_in_usd_ticks: 0 } : wire

const withoutCost = (wire: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(wire).filter(([field]) => !COST_FIELDS.includes(field)))

/** Adds what the provider charges directly, if the operator's own key at the provider was used. */
function withOwnKey(fee: Json | undefined, { is_byok: isOwnKey, cost_details: details }: JsonObject): Json | undefined {
  if (isOwnKey !== true) return fee
  const cost = isObject(details) ? details['upstream_inference_cost'] : undefined
  return typeof fee === 'number' && typeof cost === 'number' ? fee + cost : undefined
}

const scaled = (amount: Json | undefined, factor: number): number | undefined =>
  typeof amount === 'number' ? amount * factor : undefined
