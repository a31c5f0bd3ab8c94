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

/**
 * Writes usage. Upstreams of other formats bill all tokens, so the billed counts equal the total counts
 * (docs/wire/cohere-chat.md#usage).
 */
export function writeUsage(usage: Usage, losses: Losses): JsonObject {
  const native = unchangedWire<JsonObject>(usage, FORMAT)
  if (native !== undefined) return native
  losses.dropFields(usage, ['usage'], USAGE_LOSSES)
  const { input, output, cacheRead, searches } = usage
  const { billed_units: moreBilled, tokens: moreTokens, ...otherExtras } = extrasFor(usage, FORMAT)
  const tokens = defined({ input_tokens: input, output_tokens: output })
  return {
    billed_units: { ...tokens, ...defined({ search_units: searches }), ...(moreBilled as JsonObject | undefined) },
    tokens: { ...tokens, ...(moreTokens as JsonObject | undefined) },
    ...defined({ cached_tokens: cacheRead }),
    ...otherExtras,
  } as JsonObject
}
