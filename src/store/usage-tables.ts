/** A series: all requests with the same values in the fields that usage is grouped by. */
export interface SeriesRow {
  /** Hash of the other columns. */
  readonly id: number
  readonly key_id: string | null
  readonly key_name: string | null
  readonly group_name: string | null
  /** Model of the requests, or null if sums do not name it (`SeriesModels`). */
  readonly model: string | null
  readonly channel: string | null
  readonly format: string
  readonly upstream_format: string | null
  /** Path of the endpoint, as its route declares it. */
  readonly door: string
  readonly status: number
  /** 1 if the requests failed. */
  readonly failed: number
}

/** One request. `UsageRow` describes the fields. */
export interface RequestRow {
  readonly at: number
  readonly id: string
  readonly series: number
  /** Model named by the caller. Set only if the series does not have it. */
  readonly model: string | null
  readonly upstream_model: string | null
  /** 1 if the caller requested a stream. */
  readonly stream: number
  readonly attempts: number
  readonly error: string | null
  readonly finish: string | null
  readonly upstream_id: string | null
  readonly input: number | null
  readonly output: number | null
  readonly cache_read: number | null
  readonly cache_write: number | null
  readonly reasoning: number | null
  readonly input_audio: number | null
  readonly output_audio: number | null
  readonly cost: number | null
  readonly losses: number
  /** Milliseconds from the start of the request until its body was read. */
  readonly read_after: number | null
  /** Milliseconds until the request was sent to the upstream. */
  readonly sent_after: number | null
  /** Milliseconds until the head of the upstream's answer arrived. */
  readonly answered_after: number | null
  /** Milliseconds until the first byte of the answer was sent to the caller. */
  readonly first_byte_after: number | null
  /** Milliseconds until the end of the answer. */
  readonly duration: number
  /** Earlier attempts at other channels, as JSON. */
  readonly tries: string | null
  /** 1 if tokens and cost are estimated. */
  readonly estimated: number
  /** Details of the failure, as JSON. */
  readonly failure: string | null
  /**
   * Numbers of dropped, changed and moved values, separated by commas. Null without losses and in rows of earlier
   * versions.
   */
  readonly loss_kinds: string | null
}

/** Values of a sum, in the order in which they are packed. */
export const SUM_COLUMNS = [
  ...(['requests', 'errors', 'input', 'output', 'cache_read', 'cache_write', 'reasoning'] as const),
  ...(['input_audio', 'output_audio', 'cost', 'unpriced', 'losses'] as const),
]

/** Values added to sums in a later version. Older parts lack them. */
export const LATER_COLUMNS = ['cancelled', 'estimated', 'dropped', 'changed', 'moved'] as const

/**
 * One packed part of the sums of the hour or day that starts at `at`. Each batch adds a part. Parts of the same period
 * are merged from time to time.
 */
export interface PartRow {
  readonly at: number
  /** 16 random hex digits. */
  readonly part: string
  readonly data: Uint8Array
}

/** Amount that a key spent in a UTC day, in nanodollars. */
export interface SpentRow {
  readonly key_id: string
  readonly day: number
  readonly cost: number
}

/** Tables of usage per request and its sums. */
export interface UsageTables {
  readonly usage_series: SeriesRow
  readonly usage_rows: RequestRow
  readonly usage_hours: PartRow
  readonly usage_days: PartRow
  readonly usage_spent: SpentRow
  /** Lease of the process that currently deletes expired rows. */
  readonly usage_sweeps: { readonly name: string; readonly until: number }
}
