import { type BigIntStats, stat, statSync } from 'node:fs'

/** Milliseconds between two looks. */
const EVERY = 250

/**
 * Calls the listener after a file changed, appeared or went away, once two looks in a row see the same: editors empty a
 * file before they write it, or take it away for a moment. Looking also sees files that are replaced, links that lead
 * elsewhere and files on other machines. The process is not kept alive. What changes after the call is seen, so read
 * the file after it.
 *
 * @returns what ends the watch.
 */
export function watchPath(path: string, listener: () => void): () => void {
  let known = faceOf(statSync(path, { bigint: true, throwIfNoEntry: false }))
  let before = known
  const timer = setInterval(() => {
    stat(path, { bigint: true }, (_, stats) => {
      const face = faceOf(stats)
      const settled = face === before
      before = face
      if (!settled || face === known) return
      known = face
      listener()
    })
  }, EVERY)
  timer.unref()
  return () => clearInterval(timer)
}

/** What tells one state of a file from another. */
const faceOf = (stats: BigIntStats | undefined): string =>
  stats === undefined ? 'absent' : `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
