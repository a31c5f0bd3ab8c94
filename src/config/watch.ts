import { type BigIntStats, stat, statSync } from 'node:fs'

/**
 * Calls the listener after a file changed, appeared or went away. It looks twice a second, which also sees files that
 * editors replace and files on other machines, and does not keep the process alive. What changes after the call is
 * seen, so read the file after it.
 *
 * @returns what ends the watch.
 */
export function watchPath(path: string, listener: () => void): () => void {
  let known = faceOf(statSync(path, { bigint: true, throwIfNoEntry: false }))
  const timer = setInterval(() => {
    stat(path, { bigint: true }, (_, stats) => {
      const face = faceOf(stats)
      if (face === known) return
      known = face
      listener()
    })
  }, 500)
  timer.unref()
  return () => clearInterval(timer)
}

/** What tells one state of a file from another. */
const faceOf = (stats: BigIntStats | undefined): string =>
  stats === undefined ? 'absent' : `${stats.ino} ${stats.size} ${stats.mtimeNs}`
