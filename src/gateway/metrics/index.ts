import { setImmediate } from 'node:timers/promises'
import type { Metric } from 'prom-client'
import type { Config } from '../../config/index.ts'
import type { UsageRow } from '../../store/usage/row.ts'
import type { Family } from './family.ts'
import { type MeterReaders, meterFamilies } from './meters.ts'
import { processFamilies } from './process.ts'
import { Queries } from './queries.ts'
import { requestFamilies } from './request-families.ts'
import { type CountedSeries, Requests, Series } from './requests.ts'

export type { Family, Sample } from './family.ts'
export type { MeterName, MeterReaders, ReadMeter } from './meters.ts'

/** The metrics of one process: counters of requests, and gauges that are read at each scrape. */
export class Metrics {
  private readonly requests: Requests
  private readonly queries = new Queries()
  private readers: MeterReaders = {}
  private providers: ReadonlyMap<string, string> = new Map()

  constructor(config: Config) {
    this.requests = new Requests(config)
    this.reload(config)
  }

  reload(config: Config): void {
    this.requests.reload(config)
    this.providers = new Map(config.channels.map(({ name, provider }) => [name, provider]))
  }

  /** Counts a finished request. */
  count(row: UsageRow): void {
    this.requests.count(row)
  }

  /** Counts an answer to a request without a usage row. */
  countAnswer(path: string, status: number): void {
    this.queries.count(path, status)
  }

  /** Registers functions that read gauges, in addition to those registered before. */
  registerReaders(readers: MeterReaders): void {
    this.readers = { ...this.readers, ...readers }
  }

  /** Returns all metrics of this process as plain JSON, to be merged with those of other processes. */
  async snapshot(process = ''): Promise<Snapshot> {
    return {
      process,
      series: this.requests.all.map(({ counted }) => counted),
      providers: [...this.providers],
      states: [this.queries.family, ...(await meterFamilies(this.readers)), ...processFamilies()],
    }
  }
}

/** The metrics of one process. */
export interface Snapshot {
  /** Id of the process. */
  readonly process: string
  readonly series: readonly CountedSeries[]
  /** Preset of each channel. */
  readonly providers: readonly (readonly [channel: string, provider: string])[]
  readonly states: readonly Family[]
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Merges the metrics of all processes into one page in Prometheus's text format. The first call loads prom-client. */
export async function merge(snapshots: readonly Snapshot[]): Promise<string> {
  const { AggregatorRegistry } = (await import('prom-client')).default
  const providers = new Map(snapshots.flatMap(snapshot => snapshot.providers))
  const requests = requestFamilies(mergedSeries(snapshots), channel => providers.get(channel))
  const registry = AggregatorRegistry.aggregate(snapshots.map(({ states }) => [...states]))
  // The registry reads only the name and the values of a metric.
  for (const family of requests) registry.registerMetric({ name: family.name, get: () => family } as unknown as Metric)
  const texts: string[] = []
  for (const { name } of registry.getMetricsAsArray()) {
    texts.push(await registry.getSingleMetricAsString(name))
    // A page may be long, so the event loop serves requests between its parts.
    await setImmediate()
  }
  return `${texts.join('\n')}\n`
}

/** Adds up the series of all processes by their labels. */
function mergedSeries(snapshots: readonly Snapshot[]): readonly Series[] {
  const all = new Map<string, Series>()
  for (const counted of snapshots.flatMap(({ series }) => series)) {
    const key = JSON.stringify(counted.labels)
    const series = all.get(key) ?? new Series(counted.labels)
    series.add(counted)
    all.set(key, series)
  }
  return [...all.values()]
}
