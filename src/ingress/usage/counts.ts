import type { Json, JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'

/** A number of tokens; any other value counts as absent. */
export const anyCount = (value: Json | undefined): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined

/** The counts of an upstream, as it reports them. */
export interface ReportedCounts {
  readonly input?: number | undefined
  readonly output?: number | undefined
  readonly total?: number | undefined
  /** Tokens read from and written to a cache. */
  readonly cached?: number | undefined
  readonly reasoning?: number | undefined
}

/** The counts of images and of speech, under the names that OpenAI has for them. */
export const reportedCounts = (wire: JsonObject): ReportedCounts => ({
  input: anyCount(wire['input_tokens']),
  output: anyCount(wire['output_tokens']),
  total: anyCount(wire['total_tokens']),
})

/**
 * The whole prompt and the whole answer, whichever way an upstream counts (trap 97). Its total shows whether cached
 * tokens are included in the prompt or come beside it, and reasoning in the completion or beside it, as at xAI; a total
 * that no way explains includes tokens reported nowhere else, as Google's chat endpoint does with reasoning. Without a
 * total, a part larger than the whole must come beside it.
 */
export function settled({
  input,
  output,
  total,
  cached = 0,
  reasoning = 0,
}: ReportedCounts): Pick<Usage, 'input' | 'output'> {
  if (total === undefined) return counts(holding(input, cached), holding(output, reasoning))
  if (input === undefined) return counts(more(total, output ?? 0), output)
  if (output === undefined) return counts(input, more(total, input))
  for (const [beside, thoughts] of [
    [0, 0],
    [0, reasoning],
    [cached, 0],
    [cached, reasoning],
  ] as const)
    if (input + beside + output + thoughts === total) return { input: input + beside, output: output + thoughts }
  return { input, output: Math.max(output, total - input) }
}

const counts = (input: number | undefined, output: number | undefined): Pick<Usage, 'input' | 'output'> => ({
  ...(input === undefined ? {} : { input }),
  ...(output === undefined ? {} : { output }),
})

const holding = (whole: number | undefined, part: number): number | undefined =>
  whole !== undefined && part > whole ? whole + part : whole

/** What a total has beyond its one part; undefined where that is nothing. */
const more = (total: number, part: number): number | undefined => (total > part ? total - part : undefined)
