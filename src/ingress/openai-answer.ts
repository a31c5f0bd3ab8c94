import type { JsonObject } from '../canonical/node.ts'
import { anyNumber, anyObject, anyText, defined } from './fields.ts'
import { anyCount, settled } from './usage/counts.ts'

/* What the answers of chat completions and text completions have in common (FORMATS §§2, 3). */

/** The head of an answer, or of one of its chunks. */
export const readHead = (wire: JsonObject) =>
  defined({
    id: anyText(wire['id']),
    model: anyText(wire['model']),
    createdAt: anyNumber(wire['created']),
    serviceTier: anyText(wire['service_tier']),
  })

/** Tokens as canonical counts them; most upstreams include cached and reasoning tokens already (FORMATS §16.3). */
export function readCounts(wire: JsonObject) {
  const prompt = anyObject(wire['prompt_tokens_details'])
  const completion = anyObject(wire['completion_tokens_details'])
  const cacheRead = anyCount(prompt?.['cached_tokens'])
  const cacheWrite = anyCount(prompt?.['cache_write_tokens'])
  const reasoning = anyCount(completion?.['reasoning_tokens'])
  const reported = {
    input: anyCount(wire['prompt_tokens']),
    output: anyCount(wire['completion_tokens']),
    total: anyCount(wire['total_tokens']),
  }
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  return { ...settled({ ...reported, cached, reasoning }), cacheRead, cacheWrite, reasoning }
}
