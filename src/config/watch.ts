import { type BigIntStats, stat, statSync } from 'node:fs'

/** Time between two checks, in milliseconds. */
const POLL_INTERVAL = 250

/**
 * Polls a file and calls the listener after the file has changed, appeared or disappeared. Waits until two checks in a
 * row find the same state, because editors truncate or briefly remove a file before they write it. Polling also detects
 * replaced files, changed links and files on network drives. The timer does not keep the process alive. Only changes
 * after this call are detected, so the caller should read the file afterwards.
 *
 * @returns a function that stops watching.
 */
export function watchPath(path: string, listener: () => void): () => void {
  let reportedState = stateOf(statSync(path, { bigint: true, throwIfNoEntry: false }))
  let previous = reportedState
  let isChecking = false
  const timer = setInterval(() => {
    // A network drive that hangs would take a thread of Node's pool with each check, until nothing else gets one.
    if (isChecking) return
    isChecking = true
    stat(path, { bigint: true }, (_, stats) => {
      isChecking = false
      const state = stateOf(stats)
      const isSettled = state === previous
      previous = state
      if (!isSettled || state === reportedState) return
      reportedState = state
      listener()
    })
  }, POLL_INTERVAL)
  timer.unref()
  return () => clearInterval(timer)
}

/** Returns a string that identifies the state of a file. */
const stateOf = (stats: BigIntStats | undefined): string =>
  stats === undefined ? 'absent' : `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
