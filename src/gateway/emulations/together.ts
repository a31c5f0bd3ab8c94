import type { Attempt } from '../types.ts'

/**
 * The answers to several requests of one attempt, in their order, `most` of them under way at once.
 *
 * @throws what the first that fails throws; the others are broken off, and so are all when the caller leaves.
 */
export async function together<T>(
  { call, candidate, report }: Attempt,
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
  report.tried(candidate)
  call.reply.worker = controller
  try {
    await Promise.all(Array.from({ length: Math.min(most, requests.length) }, work))
  } catch (thrown) {
    controller.abort()
    throw thrown
  } finally {
    call.reply.worker = undefined
  }
  return answers
}
