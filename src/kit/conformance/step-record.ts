import type { Exchange, SentRequest } from './exchange.ts'
import type { Asked } from './format.ts'
import type { Arrival } from './upstream.ts'

/** Everything one step of a cell left behind. */
export interface StepRecord {
  readonly exchange: Exchange
  /** The request as the kit sent it. */
  readonly asked: Asked
  readonly arrivals: readonly Arrival[]
  /** Requests that came to no path of the scenario's formats. */
  readonly strays: readonly SentRequest[]
}
