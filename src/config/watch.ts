import { type BigIntStats, stat, statSync } from 'node:fs'

/** Time between two checks, in milliseconds. */
const POLL_INTERVAL = 250

/**
 * Polls a file and calls the listener after it changed, appeared or disappeared, once two checks in a row find the same
 * state: editors truncate a file before they write it, or remove it for a moment. Polling also detects replaced files,
 * changed links and files on network drives. The timer does not keep the process alive. Changes are detected from this
 * call on, so read the file after it.
 *
 * @returns a function that stops watching.
 */
export function watchPath(path: string, listener: () => void): () => void {
  let reported = stateOf(statSync(path, { bigint: true, throwIfNoEntry: false }))
  let previous = reported
  const timer = setInterval(() => {
    stat(path, { bigint: true }, (_, stats) => {
      const state = stateOf(stats)
      const settled = state === previous
      previous = state
      if (!settled || state === reported) return
      reported = state
      listener()
    })
  }, POLL_INTERVAL)
  timer.unref()
  return () => clearInterval(timer)
}

/** Returns a string that identifies the state of a file. */
const stateOf = (stats: BigIntStats | undefined): string =>
  stats === undefined ? 'absent' : `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
