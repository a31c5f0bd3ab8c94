import type { JsonObject } from '../canonical/node.ts'
import { anyNumber, anyObject, anyText, defined } from './fields.ts'

/* What chat completions and text completions say alike in their answers (FORMATS §§2, 3). */

/** The head of an answer, or of one of its chunks. */
export const readHead = (wire: JsonObject) =>
  defined({
    id: anyText(wire['id']),
    model: anyText(wire['model']),
    createdAt: anyNumber(wire['created']),
    serviceTier: anyText(wire['service_tier']),
  })

/** Prompt counts include what was cached, completion counts include reasoning: as canonical has it (FORMATS §16.3). */
export function readCounts(wire: JsonObject) {
  const prompt = anyObject(wire['prompt_tokens_details'])
  const completion = anyObject(wire['completion_tokens_details'])
  const input = anyNumber(wire['prompt_tokens'])
  const output = anyNumber(wire['completion_tokens'])
  const total = anyNumber(wire['total_tokens'])
  return {
    input,
    cacheRead: anyNumber(prompt?.['cached_tokens']),
    cacheWrite: anyNumber(prompt?.['cache_write_tokens']),
    output,
    reasoning: anyNumber(completion?.['reasoning_tokens']),
    total: total === (input ?? 0) + (output ?? 0) ? undefined : total,
  }
}
