import { useEffect, useRef, useState } from 'preact/hooks'
import { type Attempt, runTrial, type Trial } from './run-trial.ts'

interface Trying {
  /** The last one that was begun. */
  readonly trial: Trial | undefined
  /** Begins one; settles when its answer has ended. */
  start(attempt: Attempt): Promise<void>
  stop(): void
}

/** Tries one request at a time; what is under way ends with the component. */
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
