import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import { totalUsage } from '../../canonical/usage.ts'
import type { Answered } from '../types.ts'

/**
 * Several answers as one with these candidates: the head is the first one's; what they cost is their sum, and unknown
 * where one of them does not count.
 */
export function combined(answers: readonly Answered[], candidates: readonly Candidate[]): CanonicalResult {
  const { usage: _, ...head } = answers[0]!.result
  const usages = answers.flatMap(({ result }) => result.usage ?? [])
  const usage = usages.length === answers.length ? totalUsage(usages) : undefined
  return { ...head, candidates, ...(usage === undefined ? {} : { usage }) }
}
