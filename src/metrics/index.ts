import type { Config } from '../config/index.ts'
import type { UsageRow } from '../usage/row.ts'
import type { Family } from './family.ts'
import { processFamilies } from './process.ts'
import { type Readings, readingFamilies } from './readings.ts'
import { requestFamilies } from './request-families.ts'
import { Requests } from './requests.ts'

export type { Family, Sample } from './family.ts'
export type { MeterName, Read, Readings } from './readings.ts'

/** The metrics of a process: what requests add up to, and what is read of its state when metrics are. */
export class Metrics {
  private readonly requests: Requests
  private readings: Readings = {}
  private providers: ReadonlyMap<string, string> = new Map()

  constructor(config: Config) {
    this.requests = new Requests(config)
    this.reload(config)
  }

  reload(config: Config): void {
    this.requests.reload(config)
    this.providers = new Map(config.channels.map(({ name, provider }) => [name, provider]))
  }

  /** Counts a request that is over. */
  take(row: UsageRow): void {
    this.requests.take(row)
  }

  /** Has meters read by these functions from now on, beside those it had. */
  reads(readings: Readings): void {
    this.readings = { ...this.readings, ...readings }
  }

  /** All metrics of this process as plain JSON, to be merged with those of others. */
  async snapshot(): Promise<readonly Family[]> {
    return [
      ...requestFamilies(this.requests.all, channel => this.providers.get(channel)),
      ...(await readingFamilies(this.readings)),
      ...processFamilies(),
    ]
  }
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** One page of the metrics of all processes, in Prometheus's text format. prom-client is loaded with the first page. */
export async function merge(snapshots: readonly (readonly Family[])[]): Promise<string> {
  const { AggregatorRegistry } = (await import('prom-client')).default
  return AggregatorRegistry.aggregate(snapshots.map(families => [...families])).metrics()
}
