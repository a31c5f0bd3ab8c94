import { readdirSync } from 'node:fs'
import type { Reading } from '../meter.ts'

/** One measurement of the gateway. */
export interface Sample {
  /** Seconds since the streams began. */
  readonly at: number
  /** Resident memory and the heap after a collection, in MB. */
  readonly rss: number
  readonly heap: number
  /** Open file descriptors. */
  readonly descriptors: number
  /** 99th percentile of the delay of the event loop since the sample before, in milliseconds. */
  readonly delay: number
  /** Streams that ended since the sample before, per second. */
  readonly rate: number
}

const MB = 1e6

export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

export const sampleOf = (at: number, pid: number, { rss, heap, delay }: Reading, rate: number): Sample => ({
  ...{ at: Math.round(at), rss: rss / MB, heap: heap / MB, descriptors: descriptorsOf(pid) },
  ...{ delay, rate },
})

/** The median of one figure over the samples between two shares of the time, as 0.25 and 0.5. */
export function medianBetween(samples: readonly Sample[], name: keyof Sample, from: number, to: number): number {
  const part = samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to))
  const values = part.map(sample => sample[name]).toSorted((a, b) => a - b)
  return values[Math.floor(values.length / 2)] ?? Number.NaN
}
