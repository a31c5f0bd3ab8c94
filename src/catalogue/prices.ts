import type { Usage } from '../canonical/result.ts'

/** A model at the account that answered. */
export interface PricedModel {
  /** The public id: the operator's facts have it. */
  readonly model: string
  readonly upstreamModel: string
  /** The preset of its channel. */
  readonly provider: string
}

export interface Prices {
  /** What an answer cost, in nanodollars; undefined where the price of any of it is unknown. */
  cost(model: PricedModel, usage: Usage): number | undefined
}

/** Prices of nothing: every cost is unknown. */
export const NO_PRICES: Prices = { cost: () => undefined }
