import type { Exchange, SentRequest } from './exchange.ts'
import type { RequestOnWire } from './format.ts'
import type { Arrival } from './upstream.ts'

/** Everything that one step of a cell recorded. */
export interface StepRecord {
  readonly exchange: Exchange
  /** The request as the kit sent it. */
  readonly request: RequestOnWire
  readonly arrivals: readonly Arrival[]
  /** Requests to paths outside the scenario's formats. */
  readonly strays: readonly SentRequest[]
}
