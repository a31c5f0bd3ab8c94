import type { Loss } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Candidate, type CanonicalResult, totalUsage } from '../../canonical/result.ts'
import type { Attempt, WholeAnswer } from '../types.ts'

/**
 * The answers to several requests of one attempt, in their order, `most` of them under way at once.
 *
 * @throws what the first that fails throws; the others are broken off, and so are all when the caller leaves.
 */
export async function together<T>(
  { call, target, report }: Attempt,
  requests: readonly ((signal: AbortSignal) => Promise<T>)[],
  most: number = requests.length,
): Promise<readonly T[]> {
  const controller = new AbortController()
  const { signal } = controller
  const answers: T[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < requests.length && !signal.aborted) {
      const index = next++
      answers[index] = await requests[index]!(signal)
    }
  }
  report.tried(target)
  call.reply.abortable = controller
  try {
    await Promise.all(Array.from({ length: Math.min(most, requests.length) }, work))
  } catch (thrown) {
    controller.abort()
    throw thrown
  } finally {
    call.reply.abortable = undefined
  }
  return answers
}

/**
 * Several answers as one with these candidates: the head is the first one's; what they cost is their sum, and unknown
 * where one of them does not count.
 */
export function combined(answers: readonly WholeAnswer[], candidates: readonly Candidate[]): CanonicalResult {
  const { usage: _, ...head } = answers[0]!.result
  const usages = answers.flatMap(({ result }) => result.usage ?? [])
  const usage = usages.length === answers.length ? totalUsage(usages) : undefined
  return { ...head, candidates, ...(usage === undefined ? {} : { usage }) }
}

/** The parts of a request that only point at what another upstream has: no way round brings them to this one. */
export const unreadable = ({ messages }: Pick<CanonicalRequest, 'messages'>): readonly Loss[] =>
  messages.flatMap(({ content }, message) =>
    content.flatMap((part, index): Loss[] =>
      part.type === 'opaque' && part.reference === true
        ? [{ kind: 'dropped', path: ['messages', message, 'content', index], reason: `only-in-${part.format}` }]
        : [],
    ),
  )
