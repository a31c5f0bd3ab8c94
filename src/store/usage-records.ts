import type { LossKinds } from '../canonical/loss.ts'
import type { Percentiles } from './usage/histogram.ts'
import type { Failure, UsageRow } from './usage/row.ts'

/** Fields by which usage can be grouped and filtered. */
export type UsageField = 'key' | 'model' | 'channel' | 'format' | 'upstreamFormat' | 'door' | 'group' | 'status'

/**
 * Selects requests by fields and by time: from `since` until before `until`, in Unix milliseconds. Sums cover full
 * hours, or full UTC days once hourly sums are deleted, including the periods that contain `since` and `until`.
 */
export interface UsageFilter {
  readonly since: number
  readonly until: number
  readonly where?: { readonly [F in UsageField]?: string }
}

/** Sums over requests. */
export interface UsageSum {
  readonly requests: number
  /** Number of requests that failed. */
  readonly errors: number
  /** Number of requests whose caller disconnected before the answer was complete. */
  readonly cancelled: number
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
  readonly inputAudio: number
  readonly outputAudio: number
  /** Cost in nanodollars of the requests with a known cost. */
  readonly cost: number
  /** Number of requests with unknown cost. */
  readonly unpriced: number
  /** Number of requests with estimated tokens. */
  readonly estimated: number
  readonly losses: number
  /** The losses by kind. Their total may be less than `losses`, because rows of earlier versions have no kinds. */
  readonly lossKinds: LossKinds
  /**
   * Percentiles of the time to the first byte and of the total duration, in milliseconds. Present only if requested.
   */
  readonly firstByte?: Percentiles
  readonly duration?: Percentiles
}

/** The measure by which groups are ranked. */
export type UsageRank = 'requests' | 'errors' | 'tokens' | 'cost' | 'losses'

/** Thrown if an exact query covers more rows than may be counted one by one. */
export class TooManyRows extends Error {
  readonly most: number
  constructor(most: number) {
    super(`more than ${most} requests`)
    this.name = 'TooManyRows'
    this.most = most
  }
}

/** Sums of one group, and of one interval if the query has intervals. */
export interface UsageGroup extends UsageSum {
  /** Values of the fields that define the group. */
  readonly by: { readonly [F in UsageField]?: string }
  /** True if the group combines all groups outside the top. */
  readonly others?: true
  /** Name of the key, when grouped by key: its current one if it is stored, else that of its latest requests. */
  readonly keyName?: string
  /** Start of the interval, when summed over time. */
  readonly at?: number
}

/** A query for sums. */
export interface UsageQuery extends UsageFilter {
  readonly by: readonly UsageField[]
  /** Interval of the sums. Sums per minute are exact. */
  readonly every?: 'minute' | 'hour' | 'day'
  /** True to count stored rows instead of hourly sums, so that times are exact to the millisecond. */
  readonly exact?: boolean
  /** Limits the result to the groups with the highest rank. All others are combined into one group. */
  readonly top?: { readonly count: number; readonly rank: UsageRank }
  /** True to return percentiles of durations. */
  readonly percentiles?: boolean
  readonly limit: number
}

/** Filter and position of one page of rows. */
export interface RowPage extends UsageFilter {
  readonly limit: number
  /** Position after the previous page, as that page returned it. */
  readonly after?: string
  /** Only failed requests, or only requests with losses. */
  readonly only?: 'errors' | 'losses'
}

/** A group of equal failures. Times are Unix milliseconds. */
export interface FailureGroup {
  /** The latest failure. */
  readonly failure: Failure
  /** Kind of the error. */
  readonly error: string | undefined
  readonly channel: string | undefined
  readonly model: string | undefined
  count: number
  firstAt: number
  readonly lastAt: number
  /** Id of the latest request. */
  readonly request: string
}

/** Groups of failures, latest first. */
export interface FailureGroups {
  readonly groups: readonly FailureGroup[]
  /** True if all failures of the period were counted. */
  readonly isComplete: boolean
}

/** Nanodollars that a key spent in a UTC day and in its month so far. */
export interface Spent {
  readonly day: number
  readonly month: number
}

/** Usage per request, and its sums by hour and day. */
export interface UsageRecords {
  /**
   * Stores rows and adds them to the sums. If it rejects, the same rows may be added again: those that were stored are
   * not stored twice.
   */
  add(rows: readonly UsageRow[]): Promise<void>
  /** Returns sums: earliest interval first, then the group with the most requests. Rejects with `TooManyRows`. */
  sums(query: UsageQuery): Promise<readonly UsageGroup[]>
  /** Returns a page of rows, newest first. `next` is the position of the next page. */
  rows(page: RowPage): Promise<{ readonly rows: readonly UsageRow[]; readonly next?: string }>
  row(id: string): Promise<UsageRow | undefined>
  /** Groups the failed requests of a period. */
  failures(filter: UsageFilter): Promise<FailureGroups>
  /** Returns the nanodollars that a key spent in the UTC day and month of a time, not counting later days. */
  spent(key: string, at: number): Promise<Spent>
  /** Returns the same for several keys, without those that spent nothing. */
  spentByKey(keys: readonly string[], at: number): Promise<ReadonlyMap<string, Spent>>
  /**
   * Deletes rows older than `before`, and hourly sums past their retention.
   *
   * @param at the time by the clock that `before` was computed with. If it is ahead of the store's clock, fewer rows are
   * deleted.
   */
  sweep(before: number, at?: number): Promise<void>
}
