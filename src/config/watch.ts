import { type BigIntStats, stat, statSync } from 'node:fs'

/** Milliseconds between two checks. */
const EVERY = 250

/**
 * Calls the listener after a file changed, appeared or disappeared, once two checks in a row find the same state:
 * editors empty a file before they write it, or remove it for a moment. Polling also detects replaced files, changed
 * links and files on other machines. The process is not kept alive. Changes after the call are detected, so read the
 * file after it.
 *
 * @returns a function that ends the watch.
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
  }, EVERY)
  timer.unref()
  return () => clearInterval(timer)
}

/** Identifies a state of a file. */
const stateOf = (stats: BigIntStats | undefined): string =>
  stats === undefined ? 'absent' : `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
