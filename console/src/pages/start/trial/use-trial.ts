import { useEffect, useRef, useState } from 'preact/hooks'
import { type Attempt, runTrial, type Trial } from './run-trial.ts'

interface Trying {
  /** State of the last trial. */
  readonly trial: Trial | undefined
  /** Starts a trial. Resolves when the response has ended. */
  start(attempt: Attempt): Promise<void>
  stop(): void
}

/** Hook that runs one trial at a time. Unmounting the component aborts it. */
export function useTrial(): Trying {
  const [trial, show] = useState<Trial>()
  const running = useRef<AbortController>(undefined)
  useEffect(
    () => () => {
      running.current?.abort()
      running.current = undefined
    },
    [],
  )
  return {
    trial,
    start: attempt => {
      running.current?.abort()
      const own = (running.current = new AbortController())
      return runTrial(attempt, own.signal, next => running.current === own && show(next))
    },
    stop: () => running.current?.abort(),
  }
}
