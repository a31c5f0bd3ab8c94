import type { UsageFacts } from '../../facts.ts'
import { compact, type JsonObject, numberOf } from '../../json.ts'

/** Adds counts. Absent counts are 0. Returns undefined if all are absent. */
function sum(...counts: readonly (number | undefined)[]): number | undefined {
  return counts.every(count => count === undefined) ? undefined : counts.reduce<number>((a, b) => a + (b ?? 0), 0)
}

const counts = (usage: JsonObject) => ({
  prompt: numberOf(usage['promptTokenCount']),
  tools: numberOf(usage['toolUsePromptTokenCount']),
  candidates: numberOf(usage['candidatesTokenCount']),
  thoughts: numberOf(usage['thoughtsTokenCount']),
})

/**
 * Returns the facts of `usageMetadata`. Tokens of tool results and thoughts are not included in the counts of prompt
 * and candidates.
 */
export function usageFacts(usage: JsonObject): UsageFacts {
  const { prompt, tools, candidates, thoughts } = counts(usage)
  return compact({
    input: sum(prompt, tools),
    output: sum(candidates, thoughts),
    cacheRead: numberOf(usage['cachedContentTokenCount']) || undefined,
    reasoning: thoughts || undefined,
  }) as UsageFacts
}

/** Describes the fault of `totalTokenCount`, if it has one. */
export function totalFault(usage: JsonObject): string | undefined {
  const { prompt, tools, candidates, thoughts } = counts(usage)
  const total = numberOf(usage['totalTokenCount'])
  const expected = sum(prompt, tools, candidates, thoughts)
  if (total === undefined || expected === undefined || total === expected) return undefined
  return `totalTokenCount is ${total}, but the sum of its parts is ${expected}.`
}
