import type { CallerBehaviour } from './scenario.ts'

/** A caller's behaviour in one exchange. */
export interface Behaviour extends CallerBehaviour {
  /**
   * Resolves when the request has reached the upstream, from which time `leaves_after` counts. By default it counts
   * from the start.
   */
  readonly arrived?: Promise<unknown> | undefined
}

/**
 * Calls `leave` when the caller should disconnect, if ever. Waits for the request to reach the upstream, so that a slow
 * target does not receive it after the caller has disconnected.
 *
 * @returns a function that cancels the call.
 */
export function leaveLater({ leaves_after: after, arrived }: Behaviour, leave: () => void): () => void {
  if (after === undefined) return () => {}
  const cancellation = new AbortController()
  let timer: NodeJS.Timeout | undefined
  void Promise.resolve(arrived).then(() => {
    if (!cancellation.signal.aborted) timer = setTimeout(leave, after)
  })
  return () => {
    cancellation.abort()
    clearTimeout(timer)
  }
}
