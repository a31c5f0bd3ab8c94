import type { FailureReason } from '../../canonical/error.ts'
import type { LossKinds } from '../../canonical/loss.ts'
import type { Format } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { flatCopy } from '../../canonical/text.ts'

/**
 * The usage of one request. Never contains a body or a credential, but a failure may quote an upstream's message. Times
 * are Unix milliseconds, durations milliseconds.
 */
export interface UsageRow {
  /** Request id. */
  readonly id: string
  /** Start of the request. */
  readonly at: number
  /** Id of the key, and its name at that time. Absent if the key was unknown. */
  readonly key?: string | undefined
  readonly keyName?: string | undefined
  readonly group?: string | undefined
  /** Public model id as sent by the caller, and the upstream's name for the model. */
  readonly model?: string | undefined
  readonly upstreamModel?: string | undefined
  /**
   * Name of the channel. Absent if none was tried. `model` is then only what the caller sent, and sums leave it out.
   */
  readonly channel?: string | undefined
  /** Path of the endpoint, as its route declares it. */
  readonly door: string
  /** Format of the caller, and format of the upstream. */
  readonly format: Format
  readonly upstreamFormat?: Format | undefined
  readonly stream: boolean
  readonly attempts: number
  readonly status: number
  /** Kind of the error, if the request failed. */
  readonly error?: string | undefined
  /** Details of the failure, for operators. */
  readonly failure?: Failure | undefined
  /** Finish reason of the answer. */
  readonly finish?: string | undefined
  /** The upstream's id for the request. */
  readonly upstreamId?: string | undefined
  /** Tokens of the entire prompt and of the entire answer, counted by the upstream or estimated. */
  readonly input?: number | undefined
  readonly output?: number | undefined
  /** Tokens included in `input`: cache reads, cache writes, and audio. */
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
  readonly inputAudio?: number | undefined
  /** Tokens included in `output`: reasoning and audio. */
  readonly reasoning?: number | undefined
  readonly outputAudio?: number | undefined
  /** Cost in nanodollars. Absent if the price is unknown. */
  readonly cost?: number | undefined
  /** True if tokens and cost are estimates because the upstream did not count the whole answer. */
  readonly estimated?: boolean | undefined
  readonly losses: number
  /** The losses by kind, or undefined if there are none. */
  readonly lossKinds?: LossKinds | undefined
  /**
   * Number of additions that the gateway made to the request, such as a limit that the upstream requires. They are not
   * losses, and their number is not stored.
   */
  readonly additions?: number
  /** Fact that identified the conversation, if it decided between channels or keys. Not stored. */
  readonly affinity?: string | undefined
  /**
   * Times since the start of the request: request read, sent to the upstream that answered, first answer of that
   * upstream, first byte to the caller, end.
   */
  readonly readAfter?: number | undefined
  readonly sentAfter?: number | undefined
  readonly answeredAfter?: number | undefined
  readonly firstByteAfter?: number | undefined
  readonly duration: number
  /** Earlier attempts, if there were several. */
  readonly tries?: readonly EarlierAttempt[] | undefined
}

/** An attempt that was followed by another one. */
export interface EarlierAttempt {
  readonly channel: string
  readonly upstreamModel: string
  /** Start and end of the attempt, since the start of the request. */
  readonly sentAfter: number
  readonly endedAfter: number
  readonly failure?: Failure
}

/** Details of why a request or an attempt failed, without credentials and internal addresses. */
export interface Failure {
  readonly reason: FailureReason
  /** HTTP status of the upstream's answer. */
  readonly status?: number
  /** The upstream's message, or the gateway's own. */
  readonly said?: string
}

/** Status of a request whose caller disconnected before the answer was complete. */
export const CANCELLED = 499

/** Returns true if a request failed. A request cancelled by its caller did not fail. */
export const isFailed = ({ status, error }: Pick<UsageRow, 'status' | 'error'>): boolean =>
  status !== CANCELLED && (status >= 400 || error !== undefined)

/** Maximum plausible token count of a prompt or an answer. */
const MAX_PLAUSIBLE_TOKENS = 1e8
/** Maximum plausible number of searches, and of hosted calls of each kind. One costs as much as thousands of tokens. */
const MAX_PLAUSIBLE_CALLS = 1e5

/**
 * Returns true if the upstream sent plausible counts of tokens or searches. An absurd count must not use up the limits,
 * nor a budget if it is that of a part, which may have a price of its own.
 */
export const isCounted = ({
  input,
  output,
  cacheRead,
  cacheWrite,
  reasoning,
  inputBy,
  outputBy,
  searches = 0,
  hostedCalls,
}: Usage): boolean =>
  (input !== undefined || output !== undefined || searches > 0) &&
  searches <= MAX_PLAUSIBLE_CALLS &&
  areFew(hostedCalls) &&
  isPlausible(input) &&
  isPlausible(output) &&
  isPlausible(cacheRead) &&
  isPlausible(cacheWrite) &&
  isPlausible(reasoning) &&
  arePlausible(inputBy) &&
  arePlausible(outputBy)

const isPlausible = (count = 0): boolean => count >= 0 && count <= MAX_PLAUSIBLE_TOKENS

function arePlausible(counts: Usage['inputBy']): boolean {
  if (counts !== undefined)
    for (const modality in counts) if (!isPlausible(counts[modality as keyof typeof counts])) return false
  return true
}

function areFew(calls: Usage['hostedCalls']): boolean {
  for (const kind in calls) if (Number(calls[kind]) > MAX_PLAUSIBLE_CALLS) return false
  return true
}

/**
 * Maximum number of characters of a recorded model name. The name is copied, because a slice would keep a long string
 * in memory.
 */
const MAX_MODEL_LENGTH = 500

/** Shortens a model name for recording. */
export const recordedModel = (model: string): string =>
  model.length <= MAX_MODEL_LENGTH ? model : flatCopy(model.slice(0, MAX_MODEL_LENGTH))

type Optional<T> = { readonly [name in keyof T]: T[name] | undefined }

/** The fields of `Target` that name the upstream. */
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
