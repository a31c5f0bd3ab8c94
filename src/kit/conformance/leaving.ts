import type { CallerBehaviour } from './scenario.ts'

/** How a caller behaves in one exchange. */
export interface Behaviour extends CallerBehaviour {
  /** Arrival of the request at the upstream, from which `leaves_after` counts. By default it counts at once. */
  readonly arrived?: Promise<unknown> | undefined
}

/**
 * Calls `leave` when the caller is to leave, if it is. A slow target must not receive the request after the caller has
 * left.
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
