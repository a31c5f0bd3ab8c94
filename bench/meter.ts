/*
 * Loaded before anything else into a process that is measured: tells over IPC what the process has cost so far.
 */

/** What a process has used. */
export interface Reading {
  /** Microseconds of CPU, of user and system together. */
  readonly cpu: number
  /** Bytes. */
  readonly rss: number
  readonly heap: number
}

const collect = globalThis.gc

process.on('message', (asked: 'read' | 'collect') => {
  if (asked === 'collect') collect?.()
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  process.send!({ cpu: user + system, rss, heap: heapUsed } satisfies Reading)
})
process.channel?.unref()
