import type { Family, Sample } from './family.ts'
import type { Snapshot } from './index.ts'
import { SeriesSums } from './requests.ts'

/** Topic by which a process asks for the metrics of another, and a worker asks its primary for those of all. */
export const METRICS = 'metrics'
/** Topic by which a worker that ends sends its last metrics to the primary. */
export const LAST_METRICS = 'last-metrics'

/**
 * The metrics of all workers of a machine, also of those that ended or do not answer in time. Without them the counters
 * of the gateway would decrease, which Prometheus takes for a new start: it would count all earlier requests again.
 */
export class MetricsMemory {
  /** Latest metrics of each running worker. */
  private readonly latest = new Map<string, Snapshot>()
  /** Running workers that have sent their last metrics. */
  private readonly finished = new Set<string>()
  /** Workers that ended while metrics were being gathered. */
  private readonly endedMeanwhile = new Set<string>()
  private readonly endedSeries = new SeriesSums()
  private readonly endedCounters = new Map<string, Family>()
  private gatherings = 0

  /** Returns the metrics of all workers, given those that answer, and of all that ended. */
  async collect(gather: () => Promise<readonly Snapshot[]>): Promise<readonly Snapshot[]> {
    this.gatherings++
    try {
      for (const snapshot of await gather()) {
        const { process } = snapshot
        if (!this.finished.has(process) && !this.endedMeanwhile.has(process)) this.latest.set(process, snapshot)
      }
    } finally {
      if (--this.gatherings === 0) this.endedMeanwhile.clear()
    }
    return [...this.latest.values(), this.ended]
  }

  /** Takes the last metrics of a worker. */
  finish(snapshot: Snapshot): void {
    this.latest.set(snapshot.process, snapshot)
    this.finished.add(snapshot.process)
  }

  /** Keeps the counters of a worker that ended. */
  end(process: string): void {
    if (this.gatherings > 0) this.endedMeanwhile.add(process)
    this.finished.delete(process)
    const last = this.latest.get(process)
    if (last === undefined) return
    this.latest.delete(process)
    for (const counted of last.series) this.endedSeries.open(counted.labels).add(counted)
    for (const family of last.states) if (family.type === 'counter') this.addCounter(family)
  }

  /** The counters of all workers that ended, as the metrics of one process. */
  private get ended(): Snapshot {
    const series = this.endedSeries.all.map(({ counted }) => counted)
    return { process: 'ended', series, providers: [], states: [...this.endedCounters.values()] }
  }

  private addCounter(family: Family): void {
    const sums = new Map<string, Sample>()
    for (const sample of [...(this.endedCounters.get(family.name)?.values ?? []), ...family.values]) {
      const key = JSON.stringify(sample.labels)
      sums.set(key, { ...sample, value: sample.value + (sums.get(key)?.value ?? 0) })
    }
    this.endedCounters.set(family.name, { ...family, values: [...sums.values()] })
  }
}
