import type { CallerBehaviour } from './scenario.ts'

/** How a caller behaves in one exchange. */
export interface Behaviour extends CallerBehaviour {
  /**
   * Resolves when the request has reached the upstream; `leaves_after` counts from then. By default it counts from the
   * start.
   */
  readonly arrived?: Promise<unknown> | undefined
}

/**
 * Calls `leave` when the caller should disconnect, if it should. Waits for the request to arrive at the upstream, so
 * that a slow target does not receive it after the caller has already disconnected.
 *
 * @returns a function that cancels the call.
 */
export function leaveLater({ leaves_after: after, arrived }: Behaviour, leave: () => void): () => void {
  if (after === undefined) return () => {}
  const cancelling = new AbortController()
  let timer: NodeJS.Timeout | undefined
  void Promise.resolve(arrived).then(() => {
    if (!cancelling.signal.aborted) timer = setTimeout(leave, after)
  })
  return () => {
    cancelling.abort()
    clearTimeout(timer)
  }
}
