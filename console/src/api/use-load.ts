import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ProblemError } from './problem.ts'

/** State of a load: the data, the error, and whether it is running. */
export interface Loaded<T> {
  /** Data of the last successful load. It stays during a reload and after a failed one. */
  readonly data: T | undefined
  readonly error: ProblemError | undefined
  readonly loading: boolean
  /** Loads again. Resolves when the load has finished or failed. Never rejects. */
  reload(): Promise<void>
}

/**
 * Time after which a load that has not been answered no longer delays the next one, in milliseconds. A load that takes
 * longer than the time between two loads would otherwise be aborted before its answer, again and again.
 */
const PATIENCE = 60_000

/**
 * Hook that loads data when the component mounts and when one of `inputs` changes. A new load aborts the running one.
 *
 * @param every time between reloads while the browser tab is visible, in milliseconds. Without it nothing is reloaded.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[] = [],
  { every }: { readonly every?: number } = {},
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({ data: undefined, error: undefined, loading: true })
  const running = useRef<AbortController | undefined>(undefined)
  const beganAt = useRef(0)
  const latest = useRef(load)
  latest.current = load

  const reload = useCallback(async (): Promise<void> => {
    running.current?.abort()
    const controller = new AbortController()
    const { signal } = controller
    running.current = controller
    beganAt.current = performance.now()
    setState(({ data, error }) => ({ data, error, loading: true }))
    try {
      const data = await latest.current(signal)
      if (!signal.aborted) setState({ data, error: undefined, loading: false })
    } catch (thrown) {
      if (!signal.aborted) setState(({ data }) => ({ data, error: asProblem(thrown), loading: false }))
    }
    if (running.current === controller) running.current = undefined
  }, [])

  useEffect(() => {
    void reload()
    return () => running.current?.abort()
  }, inputs)

  useEffect(() => {
    if (every === undefined) return
    const isWaiting = (): boolean => running.current !== undefined && performance.now() - beganAt.current < PATIENCE
    const timer = setInterval(() => document.visibilityState === 'visible' && !isWaiting() && void reload(), every)
    return () => clearInterval(timer)
  }, [every])

  return { ...state, reload }
}

/** Wraps anything thrown in a ProblemError. Status -1 for what is not an API error. */
export const asProblem = (thrown: unknown): ProblemError =>
  thrown instanceof ProblemError ? thrown : new ProblemError(-1, { detail: String(thrown) })
