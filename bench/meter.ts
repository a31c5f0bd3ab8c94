import { monitorEventLoopDelay } from 'node:perf_hooks'

/* Reports the resource usage of a measured process over IPC. The process loads this module first. */

/** The resource usage of a process. */
export interface Reading {
  /** CPU time of user and system together, in microseconds. */
  readonly cpu: number
  /** Resident memory, in bytes. */
  readonly rss: number
  readonly heap: number
  /** 99th percentile of the event-loop delay since the previous clean reading, in milliseconds. */
  readonly delay: number
}

const collect = globalThis.gc
let delays: ReturnType<typeof monitorEventLoopDelay> | undefined

/** Returns the delay since the call before. Only processes that are asked for it pay for the measurement. */
function eventLoopDelay(): number {
  delays ??= monitorEventLoopDelay({ resolution: 10 })
  const delay = delays.percentile(99) / 1e6
  delays.reset()
  delays.enable()
  return delay
}

process.on('message', (command: 'read' | 'clean') => {
  const delay = command === 'clean' ? eventLoopDelay() : 0
  if (command === 'clean') collect?.()
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  process.send!({ cpu: user + system, rss, heap: heapUsed, delay } satisfies Reading)
})
process.channel?.unref()
