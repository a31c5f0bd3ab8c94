import type { Format } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { flatCopy } from '../../canonical/text.ts'

/** What one request used. Never a body, never a credential. Times are Unix milliseconds, durations milliseconds. */
export interface UsageRow {
  /** The request's id. */
  readonly id: string
  /** When it began. */
  readonly at: number
  /** The key's id and its name then; absent where the key was not known. */
  readonly key?: string | undefined
  readonly keyName?: string | undefined
  readonly group?: string | undefined
  /** The public id of the model, as the caller named it, and what its upstream calls it. */
  readonly model?: string | undefined
  readonly upstreamModel?: string | undefined
  /** Absent where no channel was tried: then the model is only what the caller named, and sums leave it out. */
  readonly channel?: string | undefined
  /** The path of the endpoint, as the route has it. */
  readonly door: string
  /** The caller's format and the upstream's. */
  readonly format: Format
  readonly upstreamFormat?: Format | undefined
  readonly stream: boolean
  readonly attempts: number
  readonly status: number
  /** The kind of the error, where it failed. */
  readonly error?: string | undefined
  /** Why the answer ended. */
  readonly finish?: string | undefined
  /** The upstream's id of the request. */
  readonly upstreamId?: string | undefined
  /** Tokens of the whole prompt and the whole answer, as the upstream counted them, or estimated. */
  readonly input?: number | undefined
  readonly output?: number | undefined
  /** Parts of `input`: read from and written to a cache, audio. */
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
  readonly inputAudio?: number | undefined
  /** Parts of `output`: thoughts, audio. */
  readonly reasoning?: number | undefined
  readonly outputAudio?: number | undefined
  /** Nanodollars; absent where the price is unknown. */
  readonly cost?: number | undefined
  /** The tokens, and so the cost, are an estimate: the upstream did not count the answer to its end. */
  readonly estimated?: boolean | undefined
  readonly losses: number
  /** What the gateway added to the request, such as a limit that the upstream requires; no losses, and not stored. */
  readonly additions?: number
  /**
   * Time from its beginning until the request was read, was sent to the upstream that answered, that upstream began to
   * answer, the first byte went to the caller; and in all.
   */
  readonly readAfter?: number | undefined
  readonly sentAfter?: number | undefined
  readonly answeredAfter?: number | undefined
  readonly firstByteAfter?: number | undefined
  readonly duration: number
  /** The attempts before the last, where there were several. */
  readonly tries?: readonly UsageTry[] | undefined
}

/** An attempt that another followed. */
export interface UsageTry {
  readonly channel: string
  readonly upstreamModel: string
  /** When it began and ended, from the beginning of the request on. */
  readonly sentAfter: number
  readonly endedAfter: number
}

/** The status of a request whose caller left before its answer was whole. */
export const CANCELLED = 499

/** Whether a request failed. One that its caller left did not. */
export const isFailed = ({ status, error }: Pick<UsageRow, 'status' | 'error'>): boolean =>
  status !== CANCELLED && (status >= 400 || error !== undefined)

/** Tokens that no request has, nor its answer: a higher count is wrong. */
const IMPOSSIBLE = 1e8

/** Whether an upstream counted tokens, and they can be true: limits must not be used up by a count that is wrong. */
export const isCounted = ({ input, output }: Usage): boolean =>
  (input !== undefined || output !== undefined) && !((input ?? 0) > IMPOSSIBLE) && !((output ?? 0) > IMPOSSIBLE)

/** Characters of a model that are recorded; rows wait for the store, and a slice would have all of a name wait. */
const LONGEST_MODEL = 500

/** The name of a model as it is recorded. */
export const recordedModel = (model: string): string =>
  model.length <= LONGEST_MODEL ? model : flatCopy(model.slice(0, LONGEST_MODEL))

type Optional<T> = { readonly [name in keyof T]: T[name] | undefined }

/** Who answered, as `Target` has it. */
interface Upstream {
  readonly channel: { readonly name: string }
  readonly format: { readonly format: Format }
  readonly upstreamModel: string
}

/** The fields of a row that name the upstream. */
export const upstreamFields = (
  target: Upstream | undefined,
): Optional<Pick<UsageRow, 'upstreamModel' | 'channel' | 'upstreamFormat'>> => ({
  upstreamModel: target && recordedModel(target.upstreamModel),
  channel: target?.channel.name,
  upstreamFormat: target?.format.format,
})

/** The fields of a row that count tokens. */
export const tokenFields = (
  usage: Usage | undefined,
): Optional<
  Pick<UsageRow, 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'inputAudio' | 'reasoning' | 'outputAudio'>
> => ({
  input: usage?.input,
  output: usage?.output,
  cacheRead: usage?.cacheRead,
  cacheWrite: usage?.cacheWrite,
  inputAudio: usage?.inputBy?.audio,
  reasoning: usage?.reasoning,
  outputAudio: usage?.outputBy?.audio,
})
