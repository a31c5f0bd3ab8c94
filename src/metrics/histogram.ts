import type { Sample } from './family.ts'

/** What a histogram counted, as plain JSON. */
export interface Counted {
  readonly counts: readonly number[]
  readonly sum: number
}

/** Counts of values by the buckets of a histogram. */
export class Histogram implements Counted {
  private readonly bounds: readonly number[]
  /** Of each bucket alone; the last has what is above all bounds. */
  readonly counts: number[]
  sum = 0

  /** @param bounds the largest value of each bucket, ascending. */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Array(bounds.length + 1).fill(0)
  }

  take(value: number): void {
    const { bounds } = this
    let place = 0
    while (place < bounds.length && value > bounds[place]!) place++
    this.counts[place]!++
    this.sum += value
  }

  /** One with the same bounds that counted nothing. */
  empty(): Histogram {
    return new Histogram(this.bounds)
  }

  /** Adds what another one with the same bounds counted. */
  add(other: Counted): void {
    for (const [place, count] of other.counts.entries()) this.counts[place]! += count
    this.sum += other.sum
  }

  /** Its samples in Prometheus's form, whose buckets are cumulative; none where nothing was counted. */
  samples(name: string, labels: Sample['labels']): readonly Sample[] {
    let count = 0
    const buckets = this.counts.map((own, place): Sample => {
      count += own
      const le = this.bounds[place] ?? '+Inf'
      return { labels: { le }, sharedLabels: labels, value: count, metricName: `${name}_bucket` }
    })
    if (count === 0) return []
    return [
      ...buckets,
      { labels, value: this.sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ]
  }
}
