import { readFileSync } from 'node:fs'
import type { Log } from '../../log.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Interval between two pings of each worker, in milliseconds. */
export const PING_INTERVAL_MS = 5000
/**
 * Number of unanswered pings in a row after which a worker counts as hung: a minute. Pings are counted instead of time,
 * because none is sent while the machine is suspended.
 */
export const MAX_UNANSWERED = 12

/**
 * Pings workers, and kills those whose event loop hangs, so that they are replaced. Leaves those alone that a debugger
 * or a signal stopped. Returns a function that ends the pings.
 */
export function endHungWorkers(workers: () => readonly WorkerProcess[], log: Log): () => void {
  const timer = setInterval(() => {
    for (const one of workers()) {
      if (one.ping() < MAX_UNANSWERED || one.isDebugged || isStopped(one.pid)) continue
      log.error({ pid: one.pid, silent: MAX_UNANSWERED * PING_INTERVAL_MS }, 'a worker hangs and is killed')
      one.kill()
    }
  }, PING_INTERVAL_MS).unref()
  return () => clearInterval(timer)
}

/** Returns true if a signal or a tracer stopped a process, as far as the system says so. */
function isStopped(pid: number | undefined): boolean {
  try {
    // The name of the program stands in brackets, before the state.
    return /\) [Tt] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
