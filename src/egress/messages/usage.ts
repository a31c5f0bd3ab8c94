import type { Losses, Unwritten } from '../../canonical/loss.ts'
import { rowOf } from '../../canonical/maps.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { defined, extrasFor } from '../fields.ts'
import { FORMAT } from './context.ts'

/**
 * Writes token counts. The input excludes tokens that were read from or written to a cache
 * (docs/wire/messages.md#usage, traps 19, 20). The four main counts are numbers in every recorded answer, and clients
 * add them up. Other unknown counts are omitted instead of null (trap 87).
 */
export function writeUsage(usage: Usage | undefined, tier: string | undefined, losses: Losses): JsonObject {
  if (usage === undefined) losses.add(['usage'], { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, 'count-required')
  else reportUsage(usage, losses)
  const counts = {
    input_tokens: freshInput(usage ?? {}),
    output_tokens: usage?.output ?? 0,
    cache_creation_input_tokens: usage?.cacheWrite ?? 0,
    cache_read_input_tokens: usage?.cacheRead ?? 0,
    output_tokens_details: usage?.reasoning === undefined ? undefined : { thinking_tokens: usage.reasoning },
    server_tool_use: usage?.hostedCalls && writeCalls(usage.hostedCalls),
    service_tier: tierName(tier),
  }
  return { ...(defined(counts) as JsonObject), ...extrasFor(usage, FORMAT) }
}

const cachedTokens = ({ cacheRead = 0, cacheWrite = 0 }: Usage): number => cacheRead + cacheWrite

/** Returns the number of input tokens that were neither read from nor written to a cache. */
const freshInput = (usage: Usage): number => Math.max(0, (usage.input ?? 0) - cachedTokens(usage))
const USAGE_LOSSES: Unwritten<Usage, 'input' | 'cacheRead' | 'cacheWrite' | 'output' | 'reasoning' | 'hostedCalls'> = {
  searches: 'no-count-of-searches',
  inputBy: 'no-count-by-kind',
  outputBy: 'no-count-by-kind',
}

function reportUsage(usage: Usage, losses: Losses): void {
  losses.dropFields(usage, ['usage'], USAGE_LOSSES)
  if (usage.input === undefined) losses.add(['usage', 'input'], cachedTokens(usage), 'count-required')
  else if (usage.input < cachedTokens(usage))
    losses.change(['usage', 'input'], cachedTokens(usage), 'prompt-includes-cache')
  for (const count of ['output', 'cacheRead', 'cacheWrite'] as const)
    if (usage[count] === undefined) losses.add(['usage', count], 0, 'count-required')
  const { hostedCalls } = usage
  for (const kind in hostedCalls)
    if (!Object.hasOwn(CALL_FIELDS, kind)) losses.drop(['usage', 'hostedCalls', kind], 'no-count-of-these-calls')
  if (hostedCalls === undefined) return
  for (const kind in CALL_FIELDS)
    if (hostedCalls[kind] === undefined) losses.add(['usage', 'hostedCalls', kind], 0, 'count-required')
}

const CALL_FIELDS: { readonly [kind: string]: string } = {
  'web-search': 'web_search_requests',
  'web-fetch': 'web_fetch_requests',
}

/** Writes the counts of hosted calls. The format requires both counts. */
const writeCalls = (calls: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(CALL_FIELDS).map(([kind, name]) => [name, calls[kind] ?? 0]))

/** Service tiers in answers, by canonical name. */
const SERVICE_TIERS: { readonly [tier: string]: string } = { default: 'standard', priority: 'priority', batch: 'batch' }

const tierName = (tier: string | undefined): string | undefined =>
  tier !== undefined ? rowOf(SERVICE_TIERS, tier) : undefined

/** Reports a service tier for which the format has no name. */
export function reportTier(tier: string | undefined, losses: Losses): void {
  if (tier !== undefined && tierName(tier) === undefined) losses.drop(['serviceTier'], 'no-such-tier')
}
