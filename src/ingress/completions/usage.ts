import type { JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyNumber, anyObject, defined } from '../fields.ts'
import { FORMAT } from './prompt.ts'

/** Tokens as completions count them (FORMATS §3); how they were written is kept whole, for this format's own callers. */
export function readUsage(wire: JsonObject): Usage {
  const prompt = anyObject(wire['prompt_tokens_details'])
  const completion = anyObject(wire['completion_tokens_details'])
  const input = anyNumber(wire['prompt_tokens'])
  const output = anyNumber(wire['completion_tokens'])
  const total = anyNumber(wire['total_tokens'])
  return defined({
    input,
    cacheRead: anyNumber(prompt?.['cached_tokens']),
    cacheWrite: anyNumber(prompt?.['cache_write_tokens']),
    output,
    reasoning: anyNumber(completion?.['reasoning_tokens']),
    total: total === (input ?? 0) + (output ?? 0) ? undefined : total,
    spelling: { [FORMAT]: { whole: wire } },
  })
}
