/* Reports the resource usage of a measured process over IPC. The process loads this module first. */

/** The resource usage of a process. */
export interface Reading {
  /** CPU time of user and system together, in microseconds. */
  readonly cpu: number
  /** Resident memory, in bytes. */
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
