import type { Part, RankPart } from './content.ts'
import type { CanonicalError } from './error.ts'
import { isObject, type Json, type JsonObject, type Node } from './node.ts'
import type { CanonicalRequest, Modality } from './request.ts'
import type { CanonicalTask } from './task.ts'

export interface CanonicalResult extends Node {
  readonly id?: string
  /** The model that answered, as the upstream names it. */
  readonly model?: string
  /** Unix time in seconds. */
  readonly createdAt?: number
  readonly candidates: readonly Candidate[]
  readonly usage?: Usage
  readonly serviceTier?: string
  /**
   * The writer adds the fields that answers of its format always have, where an upstream of that same format left them
   * out.
   */
  readonly complete?: true
  /** Work that outlives the exchange, instead of candidates: the upstream is asked again with the result's id. */
  readonly task?: CanonicalTask
  /** The content before the error remains valid. */
  readonly error?: CanonicalError
}

export interface Candidate extends Node {
  readonly content: readonly Part[]
  readonly finish?: Finish
  readonly logprobs?: readonly TokenLogprob[]
  /** When each text was spoken, where the content is the text of a recording. */
  readonly transcript?: Transcript
}

/** Times in seconds from the beginning of the recording. */
export interface Transcript extends Node {
  /** As the upstream names it: `en` or `english`. */
  readonly language?: string
  readonly duration?: number
  readonly segments?: readonly Segment[]
  readonly words?: readonly Word[]
}

export interface Segment extends Node {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly speaker?: string
}

export interface Word extends Node {
  readonly start: number
  readonly end: number
  readonly word: string
  readonly speaker?: string
}

export const FINISH_REASONS = ['stop', 'length', 'tool-calls', 'refused', 'paused', 'error', 'other'] as const
export type FinishReason = (typeof FINISH_REASONS)[number]

export interface Finish {
  readonly reason: FinishReason
  /** The upstream's own value for it. */
  readonly raw?: string
  /** The stop sequence that was met. */
  readonly stopSequence?: string
}

/** The contents of an answer that are a reason to stop. */
export interface EndContent {
  readonly called: boolean
  readonly refused: boolean
}

export const endContentOf = ({ content }: Pick<Candidate, 'content'>): EndContent => ({
  called: content.some(part => part.type === 'tool-call'),
  refused: content.some(part => part.type === 'refusal' && part.text !== ''),
})

/**
 * Why an answer stopped that names no other reason: its calls (trap 13), else its refusal, whose upstreams say `stop` as
 * for any answer (trap 113).
 */
export const impliedReason = ({ called, refused }: EndContent): FinishReason =>
  called ? 'tool-calls' : refused ? 'refused' : 'stop'

export interface TokenLogprob extends Node {
  readonly token: string
  readonly logprob: number
  readonly bytes?: readonly number[]
  readonly top?: readonly TokenLogprob[]
}

/**
 * Tokens spent. Absent is unknown; zero is zero. Details are included in the counts, and the total is always the sum of
 * input and output, so it has no field.
 */
export interface Usage extends Node {
  /** The whole prompt, including what was read from and written to a cache. */
  readonly input?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  /** The whole answer, reasoning included. */
  readonly output?: number
  readonly reasoning?: number
  readonly inputBy?: { readonly [M in Modality]?: number }
  readonly outputBy?: { readonly [M in Modality]?: number }
  /** Searches billed, where the upstream counts those. */
  readonly searches?: number
  /** Calls of hosted tools, by kind, e.g. `{ "web-search": 2 }`. */
  readonly hostedCalls?: JsonObject
}

/**
 * The sum of several requests' usage; undefined where there are none. A count that some of them lack is the sum of the
 * others; spelling is dropped, as it holds for single requests only.
 */
export const totalUsage = (usages: readonly Usage[]): Usage | undefined =>
  usages.length === 0 ? undefined : (usages.map(bare).reduce(sum) as Usage)

const bare = ({ spelling: _, ...counts }: Usage): JsonObject => counts as JsonObject

function sum(a: JsonObject, b: JsonObject): JsonObject {
  const added = (left: Json | undefined, right: Json | undefined): Json => {
    if (typeof left === 'number' && typeof right === 'number') return left + right
    return isObject(left) && isObject(right) ? sum(left, right) : (left ?? right ?? null)
  }
  return Object.fromEntries(Object.keys({ ...a, ...b }).map(key => [key, added(a[key], b[key])]))
}

/**
 * The ranking in the shape its caller requested, whatever the upstream supports: at most `top` documents, with or
 * without their content. A rank of a document that does not exist is left out.
 */
export function rankedAsRequested(result: CanonicalResult, { messages, output }: CanonicalRequest): CanonicalResult {
  const { ranking } = output
  if (ranking === undefined || isAsRequested(result, messages, ranking)) return result
  const withContent = (rank: RankPart): RankPart => {
    const { content: _, ...bare } = rank
    return ranking.echo === true ? { ...bare, content: messages[rank.index]!.content } : bare
  }
  const candidates = result.candidates.map(candidate => {
    const content = candidate.content
      .filter((part: Part) => part.type !== 'rank' || messages[part.index] !== undefined)
      .map((part: Part) => (part.type === 'rank' ? withContent(part) : part))
    return { ...candidate, content: ranking.top === undefined ? content : content.slice(0, ranking.top) }
  })
  return { ...result, candidates }
}

const isAsRequested = (
  { candidates }: CanonicalResult,
  messages: CanonicalRequest['messages'],
  { echo, top = Number.POSITIVE_INFINITY }: NonNullable<CanonicalRequest['output']['ranking']>,
): boolean =>
  echo !== true &&
  candidates.every(
    ({ content }) =>
      content.length <= top &&
      content.every(part => part.type !== 'rank' || (messages[part.index] !== undefined && part.content === undefined)),
  )
