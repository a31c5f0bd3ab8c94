import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/canonical/node.ts'

/** Position of each count in a format: a field, or a field of its details. */
export interface CountNames {
  readonly input: string
  readonly output: string
  readonly total: string
  readonly cached: readonly [details: string, field: string]
  readonly reasoning: readonly [details: string, field: string]
}

/** Values that are no token counts. */
export const absurd: fc.Arbitrary<Json> = fc.constantFrom<Json[]>(-1, 0.5, 1e308, 2 ** 60, '7', true, {}, [])
const count = fc.nat(99)

/**
 * Usage with different ways to count: cached tokens inside the prompt or beside it, reasoning inside the completion or
 * beside it, and a total that agrees with either way, is missing, or agrees with neither. Sometimes a count is invalid
 * or left out (trap 97).
 */
export const usageIn = ({ input, output, total, cached, reasoning }: CountNames): fc.Arbitrary<JsonObject> =>
  fc
    .record({
      fresh: count,
      held: count,
      text: count,
      thoughts: count,
      beside: fc.record({ cache: fc.boolean(), thoughts: fc.boolean() }),
      sum: fc.constantFrom('agrees', 'agrees', 'missing', 'absurd'),
      wrong: fc.nat(399),
      odd: fc.option(fc.tuple(fc.constantFrom(input, output, total), fc.option(absurd)), { freq: 4 }),
    })
    .map(({ fresh, held, text, thoughts, beside, sum, wrong, odd }) => {
      const usage: { [field: string]: Json } = {
        [input]: beside.cache ? fresh : fresh + held,
        [output]: beside.thoughts ? text : text + thoughts,
        [cached[0]]: { [cached[1]]: held },
        [reasoning[0]]: { [reasoning[1]]: thoughts },
        ...(sum === 'missing' ? {} : { [total]: sum === 'agrees' ? fresh + held + text + thoughts : wrong }),
      }
      if (odd === null) return usage
      const [field, value] = odd
      if (value === null) delete usage[field]
      else usage[field] = value
      return usage
    })

const DETAILS = {
  cached: ['prompt_tokens_details', 'cached_tokens'],
  reasoning: ['completion_tokens_details', 'reasoning_tokens'],
} as const

/** Names of the counts in chat and completions. */
export const CHAT_COUNTS: CountNames = {
  ...{ input: 'prompt_tokens', output: 'completion_tokens', total: 'total_tokens' },
  ...DETAILS,
}

/** Names of the counts in OpenAI's newer formats. */
export const RESPONSES_COUNTS: CountNames = {
  ...{ input: 'input_tokens', output: 'output_tokens', total: 'total_tokens' },
  cached: ['input_tokens_details', 'cached_tokens'],
  reasoning: ['output_tokens_details', 'reasoning_tokens'],
}
