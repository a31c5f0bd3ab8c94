import type { Exchange, SentRequest } from './exchange.ts'
import type { RequestOnWire } from './format.ts'
import type { Arrival } from './upstream.ts'

/** The exchange of one caller, and its requests that reached the upstream. */
export interface CallerRecord {
  readonly exchange: Exchange
  readonly arrivals: readonly Arrival[]
}

/** Everything that one step of a cell recorded. */
export interface StepRecord extends CallerRecord {
  /** The request as the kit sent it. */
  readonly request: RequestOnWire
  /** Requests to paths outside the scenario's formats. */
  readonly strays: readonly SentRequest[]
  /** The other callers, in scenarios with several at once. */
  readonly beside?: readonly CallerRecord[]
}
