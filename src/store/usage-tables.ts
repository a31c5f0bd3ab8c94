/** A set of requests that agree in everything they are summed up by. */
export interface SeriesRow {
  /** A hash of the other columns. */
  readonly id: number
  readonly key_id: string | null
  readonly key_name: string | null
  readonly group_name: string | null
  /** Only where a channel was tried: callers can name anything. */
  readonly model: string | null
  readonly channel: string | null
  readonly format: string
  readonly upstream_format: string | null
  readonly door: string
  readonly status: number
  /** 1 where the requests failed. */
  readonly failed: number
}

/** One request; `UsageRow` describes the fields. */
export interface RequestRow {
  readonly at: number
  readonly id: string
  readonly series: number
  /** Where no channel was tried: what the caller named. */
  readonly model: string | null
  readonly upstream_model: string | null
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
  readonly read_after: number | null
  readonly sent_after: number | null
  readonly answered_after: number | null
  readonly first_byte_after: number | null
  readonly duration: number
  /** As JSON. */
  readonly tries: string | null
  /** 1 where tokens and cost are an estimate. */
  readonly estimated: number
}

/** What is added up of requests. */
export const SUM_COLUMNS = [
  ...(['requests', 'errors', 'input', 'output', 'cache_read', 'cache_write', 'reasoning'] as const),
  ...(['input_audio', 'output_audio', 'cost', 'unpriced', 'losses'] as const),
]

/** What is added up since sums have them, too: earlier parts have none of these. */
export const LATER_COLUMNS = ['cancelled', 'estimated'] as const

/**
 * A part of the sums of the hour or the day that begins at `at`: the bytes of `packed`. Each batch of rows adds one; all
 * parts of a time are made one now and then.
 */
export interface PartRow {
  readonly at: number
  /** 16 random hexadecimal digits. */
  readonly part: string
  readonly data: Uint8Array
}

/** Nanodollars that a key spent in a UTC day. */
export interface SpentRow {
  readonly key_id: string
  readonly day: number
  readonly cost: number
}

/** What requests used. */
export interface UsageTables {
  readonly usage_series: SeriesRow
  readonly usage_rows: RequestRow
  readonly usage_hours: PartRow
  readonly usage_days: PartRow
  readonly usage_spent: SpentRow
  /** Who deletes expired rows at present: one at a time. */
  readonly usage_sweeps: { readonly name: string; readonly until: number }
}
