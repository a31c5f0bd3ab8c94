import type { Json, JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'

/** Reads a number of tokens. Any other value counts as absent. */
export const anyCount = (value: Json | undefined): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined

/** Token counts as an upstream reports them. */
export interface ReportedCounts {
  readonly input?: number | undefined
  readonly output?: number | undefined
  readonly total?: number | undefined
  /** Tokens read from a cache plus tokens written to it. */
  readonly cached?: number | undefined
  readonly reasoning?: number | undefined
  /** Tokens of audio in the prompt. */
  readonly audio?: number | undefined
}

/** Reads the counts of image and speech answers under OpenAI's names. */
export const reportedCounts = (wire: JsonObject): ReportedCounts => ({
  input: anyCount(wire['input_tokens']),
  output: anyCount(wire['output_tokens']),
  total: anyCount(wire['total_tokens']),
})

/**
 * Normalizes input and output counts, because upstreams count in different ways (trap 97). The total shows whether the
 * prompt includes cached tokens and audio (Mistral's does not include audio, docs/wire/chat.md#usage) and whether the
 * completion includes reasoning (xAI's does not). If no combination adds up to the total, the rest counts as output,
 * because Google's chat endpoint excludes reasoning from its other counts.
 * A part that is larger than its whole must have been counted separately, even if the total leaves it out.
 */
export function reconcileCounts({
  input,
  output,
  total,
  cached = 0,
  reasoning = 0,
  audio = 0,
}: ReportedCounts): Pick<Usage, 'input' | 'output'> {
  if (total === undefined)
    return counts(includingPart(includingPart(input, cached), audio), includingPart(output, reasoning))
  if (input === undefined) return counts(includingPart(remainder(total, output ?? 0), cached), output)
  if (output === undefined) return counts(includingPart(input, cached), remainder(total, input))
  for (const [extraInput, extraOutput] of [
    [0, 0],
    [0, reasoning],
    [cached, 0],
    [cached, reasoning],
    [audio, 0],
    [cached + audio, 0],
  ] as const)
    if (input + extraInput + output + extraOutput === total)
      return { input: includingPart(input + extraInput, cached), output: output + extraOutput }
  return { input: includingPart(input, cached), output: Math.max(output, total - input) }
}

const counts = (input: number | undefined, output: number | undefined): Pick<Usage, 'input' | 'output'> => ({
  ...(input === undefined ? {} : { input }),
  ...(output === undefined ? {} : { output }),
})

/** Adds a part to the whole if the part is larger, because then the whole cannot include it. */
const includingPart = <C extends number | undefined>(totalCount: C, part: number): C | number =>
  totalCount !== undefined && part > totalCount ? totalCount + part : totalCount

/** Returns the rest of a total beyond one part, or undefined if the rest is zero. */
const remainder = (total: number, part: number): number | undefined => (total > part ? total - part : undefined)
