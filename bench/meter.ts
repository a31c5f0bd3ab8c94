/*
 * Loaded first into a measured process: reports its resource usage over IPC.
 */

/** The resource usage of a process. */
export interface Reading {
  /** Microseconds of CPU, of user and system together. */
  readonly cpu: number
  /** Bytes. */
  readonly rss: number
  readonly heap: number
}

const collect = globalThis.gc

process.on('message', (command: 'read' | 'collect') => {
  if (command === 'collect') collect?.()
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  process.send!({ cpu: user + system, rss, heap: heapUsed } satisfies Reading)
})
process.channel?.unref()
