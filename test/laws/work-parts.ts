import fc from 'fast-check'
import type { Part } from '../../src/canonical/content.ts'
import { FINISH_REASONS, type Usage } from '../../src/canonical/result.ts'
import { filled, object, record, word } from './arbitrary.ts'

/* Values that requests and results of several kinds of work contain. */

/** A count of tokens or of anything else. */
export const count = fc.nat(9000)

/** A time in seconds. */
export const seconds = fc.nat(90_000).map(milliseconds => milliseconds / 1000)

/** Fields of formats that the canonical model lacks. Formats without room for them are not named. */
export const extras = (...formats: string[]) =>
  fc
    .array(fc.tuple(fc.constantFrom(...formats), object(word)), { minLength: 1, maxLength: 2 })
    .map(entries => Object.fromEntries(entries.filter(([, fields]) => Object.keys(fields).length > 0)))

export const finish = record({ reason: fc.constantFrom(...FINISH_REASONS) }, { raw: word, stopSequence: filled })

/** A part of unknown type. */
export const opaque = record<Part>(
  {
    type: fc.constant('opaque'),
    format: fc.constantFrom('contents', 'elsewhere'),
    value: fc.record({ type: fc.constant('x_unknown'), v: word }, { noNullPrototype: true }),
  },
  { text: word },
)

/** Returns counts whose prompt includes what was read from a cache and written to it, as those of every reader do. */
export function withWholePrompt(usage: Usage): Usage {
  const cached = (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)
  return cached > (usage.input ?? 0) ? { ...usage, input: cached } : usage
}
