import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ProblemError } from './problem.ts'

export interface Loaded<T> {
  /** What was loaded last; it stays while it is loaded again. */
  readonly data: T | undefined
  readonly error: ProblemError | undefined
  readonly loading: boolean
  /** Loads it again; settles when it is there. */
  reload(): Promise<void>
}

/**
 * Loads something when the component appears, and again when one of the inputs changes; what was under way then is
 * aborted. With `every`, also after so many milliseconds, while the page is seen.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[] = [],
  { every }: { readonly every?: number } = {},
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({ data: undefined, error: undefined, loading: true })
  const running = useRef<AbortController | undefined>(undefined)
  const latest = useRef(load)
  latest.current = load

  const reload = useCallback(async (): Promise<void> => {
    running.current?.abort()
    const { signal } = (running.current = new AbortController())
    setState(({ data, error }) => ({ data, error, loading: true }))
    try {
      const data = await latest.current(signal)
      if (!signal.aborted) setState({ data, error: undefined, loading: false })
    } catch (thrown) {
      if (!signal.aborted) setState(({ data }) => ({ data, error: asProblem(thrown), loading: false }))
    }
  }, [])

  useEffect(() => {
    void reload()
    return () => running.current?.abort()
  }, inputs)

  useEffect(() => {
    if (every === undefined) return
    const timer = setInterval(() => document.visibilityState === 'visible' && void reload(), every)
    return () => clearInterval(timer)
  }, [every])

  return { ...state, reload }
}

/** Whatever was thrown, as something that can be shown. */
export const asProblem = (thrown: unknown): ProblemError =>
  thrown instanceof ProblemError ? thrown : new ProblemError(-1, { detail: String(thrown) })
