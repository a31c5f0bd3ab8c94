import type { Loss } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Candidate, type CanonicalResult, totalUsage } from '../../canonical/result.ts'
import type { Attempt, WholeAnswer } from '../types.ts'

/**
 * Runs several requests of one attempt, at most `concurrency` at once, and returns their answers in order. Aborts all
 * of them when the caller leaves.
 *
 * @throws the error of the first request that fails. The others are aborted.
 */
export async function inParallel<T>(
  { incoming: { call, report }, target }: Attempt,
  requests: readonly ((signal: AbortSignal) => Promise<T>)[],
  concurrency: number = requests.length,
): Promise<readonly T[]> {
  const controller = new AbortController()
  const { signal } = controller
  const answers: T[] = []
  let next = 0
  const runNext = async (): Promise<void> => {
    while (next < requests.length && !signal.aborted) {
      const index = next++
      answers[index] = await requests[index]!(signal)
    }
  }
  report.startAttempt(target)
  call.reply.abortable = controller
  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, requests.length) }, runNext))
  } catch (thrown) {
    controller.abort()
    throw thrown
  } finally {
    call.reply.abortable = undefined
  }
  return answers
}

/**
 * Combines several answers into one with these candidates and the head of the first answer. The usage is the sum, or
 * unknown if any answer has none.
 */
export function combinedResult(answers: readonly WholeAnswer[], candidates: readonly Candidate[]): CanonicalResult {
  const { usage: _, ...head } = answers[0]!.result
  const usages = answers.flatMap(({ result }) => result.usage ?? [])
  const usage = usages.length === answers.length ? totalUsage(usages) : undefined
  return { ...head, candidates, ...(usage === undefined ? {} : { usage }) }
}

/** Reports parts that only refer to data at another upstream, because no emulation can transfer the data. */
export const lossesOfReferences = ({ messages }: Pick<CanonicalRequest, 'messages'>): readonly Loss[] =>
  messages.flatMap(({ content }, message) =>
    content.flatMap((part, index): Loss[] =>
      part.type === 'opaque' && part.reference === true
        ? [{ kind: 'dropped', path: ['messages', message, 'content', index], reason: `only-in-${part.format}` }]
        : [],
    ),
  )
