import type { ExpectedTokens } from '../accounts/index.ts'
import type { Part } from '../canonical/content.ts'
import type { CanonicalResult, Usage } from '../canonical/result.ts'
import type { Work } from '../canonical/work.ts'
import { isCounted } from '../store/usage/row.ts'
import { withoutStatedCost } from '../upstreams/catalogue/stated-cost.ts'

/** Number of characters of an answer per token. */
const CHARACTERS_PER_TOKEN = 4

/** Kinds of work whose answers are text. The cost of other work cannot be estimated from its answer. */
export const TEXT_WORK: ReadonlySet<Work> = new Set(['conversation', 'completion', 'compaction'])

/** Facts about an answer whose tokens the upstream did not count completely. */
export interface UncountedAnswer {
  readonly work: Work
  /** The upstream's latest count. It may be wrong. */
  readonly lastCount: Usage | undefined
  /** Number of characters of the answer so far. */
  readonly written: number
  /** Number of characters of the answer since the latest count. */
  readonly writtenSince: number
  /** Input tokens, estimated from the size of the request. */
  readonly input: number
  /** Minimum number of output tokens that were generated but not received, for example because the caller left. */
  readonly unreceived: number
}

/**
 * Estimates the usage of an answer from the upstream's count so far and the length of the text after it. Returns
 * undefined for work whose answers are not text.
 */
export function estimatedUsage({
  work,
  lastCount,
  written,
  writtenSince,
  input,
  unreceived: unseen,
}: UncountedAnswer): Usage | undefined {
  if (!TEXT_WORK.has(work)) return undefined
  const counted: Usage = lastCount !== undefined && isCounted(lastCount) ? lastCount : {}
  const received =
    counted.output === undefined ? written / CHARACTERS_PER_TOKEN : counted.output + writtenSince / CHARACTERS_PER_TOKEN
  const output = Math.ceil(Math.max(received, unseen))
  const known = output === counted.output ? counted : withoutStatedCost(counted)
  return { ...known, input: counted.input ?? Math.ceil(input), output }
}

/** Returns the number of characters of a whole answer: text, reasoning, refusals and arguments of tool calls. */
export const lengthOf = ({ candidates }: CanonicalResult): number =>
  candidates.reduce((sum, { content }) => sum + content.reduce((length, part) => length + lengthOfPart(part), 0), 0)

function lengthOfPart(part: Part): number {
  if (part.type === 'tool-call') return part.arguments.length
  return 'text' in part && typeof part.text === 'string' ? part.text.length : 0
}

/** Computes the expected usage of a request when it is needed. */
export type ExpectedUsage = () => ExpectedTokens
