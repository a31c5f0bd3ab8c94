import type { Format } from '../canonical/node.ts'

/** What one request used. Never a body, never a credential. Times are Unix milliseconds, durations milliseconds. */
export interface UsageRow {
  /** The request's id. */
  readonly id: string
  /** When it began. */
  readonly at: number
  /** The key's id and its name then; absent where the key was not known. */
  readonly key?: string
  readonly keyName?: string
  readonly group?: string
  /** The public id of the model, and what its upstream calls it. */
  readonly model?: string
  readonly upstreamModel?: string
  readonly channel?: string
  /** The path of the endpoint. */
  readonly door: string
  /** The caller's format and the upstream's. */
  readonly format: Format
  readonly upstreamFormat?: Format
  readonly stream: boolean
  readonly attempts: number
  readonly status: number
  /** The kind of the error, where it failed. */
  readonly error?: string
  /** Tokens, as far as the upstream counted them. The whole prompt and the whole answer. */
  readonly input?: number
  readonly output?: number
  /** Parts of `input`: read from and written to a cache, audio. */
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly inputAudio?: number
  /** Parts of `output`: thoughts, audio. */
  readonly reasoning?: number
  readonly outputAudio?: number
  /** Nanodollars; absent where the price is unknown. */
  readonly cost?: number
  readonly losses: number
  /** Time until the request was sent to the upstream that answered, until the first byte to the caller, and in all. */
  readonly sentAfter?: number
  readonly firstByteAfter?: number
  readonly duration: number
}

/** Takes a row when its request is over; it must not wait or throw. */
export type TakeRow = (row: UsageRow) => void
