import type { Losses, Unwritten } from '../../canonical/loss.ts'
import { defined, type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { extrasFor } from '../fields.ts'
import { FORMAT } from './context.ts'

const USAGE_LOSSES: Unwritten<Usage, 'input' | 'output' | 'cacheRead' | 'searches'> = {
  cacheWrite: 'no-such-count',
  reasoning: 'no-such-count',
  inputBy: 'no-counts-by-kind',
  outputBy: 'no-counts-by-kind',
  hostedCalls: 'no-such-count',
}

const NO_USAGE: Usage = { input: 0, output: 0 }

/**
 * Writes usage. Clients demand both counts, so that unknown ones are 0. Upstreams of other formats bill all tokens, so the billed counts equal the total counts
 * (docs/wire/cohere-chat.md#usage).
 */
export function writeUsage(usage: Usage | undefined, losses: Losses): JsonObject {
  if (usage === undefined) {
    losses.add(['usage'], NO_USAGE, 'count-required')
    return writeUsage(NO_USAGE, losses)
  }
  const native = unchangedWire<JsonObject>(usage, FORMAT)
  if (native !== undefined) return native
  losses.dropFields(usage, ['usage'], USAGE_LOSSES)
  for (const field of ['input', 'output'] as const)
    if (usage[field] === undefined) losses.add(['usage', field], 0, 'count-required')
  const { input = 0, output = 0, cacheRead, searches } = usage
  const { billed_units: moreBilled, tokens: moreTokens, ...otherExtras } = extrasFor(usage, FORMAT)
  const tokens = { input_tokens: input, output_tokens: output }
  return {
    billed_units: { ...tokens, ...defined({ search_units: searches }), ...(moreBilled as JsonObject | undefined) },
    tokens: { ...tokens, ...(moreTokens as JsonObject | undefined) },
    ...defined({ cached_tokens: cacheRead }),
    ...otherExtras,
  } as JsonObject
}
