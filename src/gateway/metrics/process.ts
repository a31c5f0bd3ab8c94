import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Family } from './family.ts'

/** Interval between two samples of the event loop, in milliseconds. */
const SAMPLE_INTERVAL = 20
const PERCENTILES = [50, 90, 99] as const

/** Histogram of the event loop delay. The first scrape starts it, because measuring costs a timer. */
let delay: ReturnType<typeof monitorEventLoopDelay> | undefined

const gauge = (name: string, value: number, help: string, aggregator: Family['aggregator'] = 'sum'): Family => ({
  ...{ name, help, type: 'gauge', aggregator },
  values: [{ labels: {}, value }],
})

/** Returns the memory, CPU and event loop metrics of the process, under the names that Node dashboards use. */
export function processFamilies(): readonly Family[] {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return [
    gauge('process_resident_memory_bytes', rss, 'Resident memory.'),
    gauge('nodejs_heap_size_used_bytes', heapUsed, 'Used heap.'),
    gauge('nodejs_heap_size_total_bytes', heapTotal, 'Heap.'),
    gauge('nodejs_external_memory_bytes', external, 'Memory of buffers outside of the heap.'),
    gauge('process_start_time_seconds', Math.floor(performance.timeOrigin / 1000), 'Start in Unix time.', 'min'),
    {
      ...{ name: 'process_cpu_seconds_total', help: 'CPU time.', type: 'counter', aggregator: 'sum' },
      values: [{ labels: {}, value: (user + system) / 1e6 }],
    },
    ...eventLoop(),
  ]
}

/** Returns the event loop delay since the last scrape. */
function eventLoop(): readonly Family[] {
  const running = delay
  delay ??= monitorEventLoopDelay({ resolution: SAMPLE_INTERVAL })
  if (running === undefined) {
    delay.enable()
    return []
  }
  // A measured delay includes the sampling interval.
  const seconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - SAMPLE_INTERVAL / 1000)
  const families = PERCENTILES.map(share =>
    gauge(
      `nodejs_eventloop_lag_p${share}_seconds`,
      seconds(running.percentile(share)),
      'Delay of the event loop.',
      'max',
    ),
  )
  running.reset()
  return families
}
