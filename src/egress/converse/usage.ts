import type { Losses, Unwritten } from '../../canonical/loss.ts'
import { defined, type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { extrasFor } from '../fields.ts'
import { FORMAT } from './context.ts'

const USAGE_LOSSES: Unwritten<Usage, 'input' | 'cacheRead' | 'cacheWrite' | 'output'> = {
  reasoning: 'no-count-of-reasoning',
  searches: 'no-count-of-searches',
  hostedCalls: 'no-count-of-hosted-calls',
  inputBy: 'no-count-by-kind',
  outputBy: 'no-count-by-kind',
}

/**
 * Writes the three required token counts: input without cached tokens, output, and the total of all tokens
 * (docs/wire/converse.md#usage, traps 19, 20).
 */
export function writeUsage(usage: Usage | undefined, losses: Losses): JsonObject {
  const original = usage && unchangedWire<JsonObject>(usage, FORMAT)
  if (original !== undefined) return original
  const { cacheRead, cacheWrite, output = 0 } = usage ?? {}
  const cachedTokens = (cacheRead ?? 0) + (cacheWrite ?? 0)
  reportLosses(usage, cachedTokens, losses)
  const input = Math.max(usage?.input ?? 0, cachedTokens)
  const counts = {
    inputTokens: input - cachedTokens,
    outputTokens: output,
    totalTokens: input + output,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
  }
  return { ...(defined(counts) as JsonObject), ...extrasFor(usage, FORMAT) }
}

function reportLosses(usage: Usage | undefined, cachedTokens: number, losses: Losses): void {
  if (usage === undefined) return losses.add(['usage'], { input: 0, output: 0 }, 'count-required')
  losses.dropFields(usage, ['usage'], USAGE_LOSSES)
  if (usage.input === undefined) losses.add(['usage', 'input'], cachedTokens, 'count-required')
  else if (usage.input < cachedTokens) losses.change(['usage', 'input'], cachedTokens, 'prompt-includes-cache')
  if (usage.output === undefined) losses.add(['usage', 'output'], 0, 'count-required')
}
