import type { Percentiles } from './usage/histogram.ts'
import type { UsageRow } from './usage/row.ts'

/** The fields by which usage is summed up. */
export type UsageField = 'key' | 'model' | 'channel' | 'format' | 'upstreamFormat' | 'door' | 'group' | 'status'

/**
 * Which requests are meant. Times are Unix milliseconds: from `since` on, before `until`. Sums are of whole hours (of
 * whole UTC days where hours are not kept any more): those in which the two times lie belong to them.
 */
export interface UsageFilter {
  readonly since: number
  readonly until: number
  readonly where?: { readonly [F in UsageField]?: string }
}

/** Sums over requests. */
export interface UsageSum {
  readonly requests: number
  /** Requests that failed, and requests that their callers left. */
  readonly errors: number
  readonly cancelled: number
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
  readonly inputAudio: number
  readonly outputAudio: number
  /** Nanodollars of those whose cost is known. */
  readonly cost: number
  /** Requests whose cost is unknown. */
  readonly unpriced: number
  /** Requests whose tokens are an estimate. */
  readonly estimated: number
  readonly losses: number
  /** Milliseconds until the first byte, and in all, that so many percent of the requests stayed below; where asked for. */
  readonly firstByte?: Percentiles
  readonly duration?: Percentiles
}

/** What groups are ranked by. */
export type UsageRank = 'requests' | 'errors' | 'tokens' | 'cost' | 'losses'

/** Thrown where more requests would be counted one by one than is done. */
export class TooManyRows extends Error {
  readonly most: number
  constructor(most: number) {
    super(`more than ${most} requests`)
    this.name = 'TooManyRows'
    this.most = most
  }
}

export interface UsageGroup extends UsageSum {
  /** The values of the fields they are summed up by. */
  readonly by: { readonly [F in UsageField]?: string }
  /** It is the groups that are not among the top, together. */
  readonly others?: true
  /** The last name of the key, where they are summed up by key. */
  readonly keyName?: string
  /** The beginning of the interval, where they are summed up over time. */
  readonly at?: number
}

export interface UsageQuery extends UsageFilter {
  readonly by: readonly UsageField[]
  /** Sums for each interval, too; those of minutes are exact. */
  readonly every?: 'minute' | 'hour' | 'day'
  /** The requests themselves are counted, as far as they are kept: times count to the millisecond. */
  readonly exact?: boolean
  /** Only the groups that have most of something in all; the others are one group. */
  readonly top?: { readonly count: number; readonly rank: UsageRank }
  /** Whether percentiles of durations are wanted. */
  readonly percentiles?: boolean
  readonly limit: number
}

export interface RowPage extends UsageFilter {
  readonly limit: number
  /** The place behind which it continues, as the page before gave it. */
  readonly after?: string
  /** Only failed ones, or only those with losses. */
  readonly only?: 'errors' | 'losses'
}

/** One row for each request, and sums of them by hour and day. */
export interface UsageRecords {
  /** Stores rows and adds them to the sums. */
  add(rows: readonly UsageRow[]): Promise<void>
  /** Sums, over time from the earliest on; those of most requests first. Rejects with TooManyRows. */
  sums(query: UsageQuery): Promise<readonly UsageGroup[]>
  /** Rows, the latest first. */
  rows(page: RowPage): Promise<{ readonly rows: readonly UsageRow[]; readonly next?: string }>
  row(id: string): Promise<UsageRow | undefined>
  /** Nanodollars that a key has spent in the day and the month (UTC) of that time. */
  spent(key: string, at: number): Promise<{ readonly day: number; readonly month: number }>
  /** Deletes rows before that time, and hourly sums that are kept no longer. */
  sweep(before: number): Promise<void>
}
