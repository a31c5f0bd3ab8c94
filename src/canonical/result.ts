import type { Part, RankPart } from './content.ts'
import type { CanonicalError } from './error.ts'
import { isObject, type Json, type JsonObject, type Node } from './node.ts'
import type { CanonicalRequest, Modality } from './request.ts'
import type { CanonicalTask } from './task.ts'

/** An answer, independent of the format from which it was read or in which it will be written. */
export interface CanonicalResult extends Node {
  readonly id?: string
  /** The upstream's name of the model that answered. */
  readonly model?: string
  /** Time of creation, in Unix seconds. */
  readonly createdAt?: number
  readonly candidates: readonly Candidate[]
  readonly usage?: Usage
  readonly serviceTier?: string
  /**
   * True if the writer adds the fields that every answer of its format has, even if an upstream of the same format
   * omitted them.
   */
  readonly complete?: true
  /** Unfinished task, instead of candidates. Its state is requested from the upstream by the result's id. */
  readonly task?: CanonicalTask
  /** Error that occurred after the answer had started. Content before the error remains valid. */
  readonly error?: CanonicalError
}

/** One of several alternative answers to a request. */
export interface Candidate extends Node {
  readonly content: readonly Part[]
  readonly finish?: Finish
  readonly logprobs?: readonly TokenLogprob[]
  /** Timing of words and segments, if the content is transcribed text. */
  readonly transcript?: Transcript
}

/** Timing of a transcribed text, in seconds from the start of the recording. */
export interface Transcript extends Node {
  /** The upstream's name for the language, such as `en` or `english`. */
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

/** Reason why a candidate stopped. */
export interface Finish {
  readonly reason: FinishReason
  /** The upstream's original value. */
  readonly raw?: string
  /** Stop sequence that ended the text. */
  readonly stopSequence?: string
}

/** Properties of an answer's content from which its finish reason follows. */
export interface EndContent {
  readonly called: boolean
  readonly refused: boolean
}

export const endContentOf = ({ content }: Pick<Candidate, 'content'>): EndContent => ({
  called: content.some(part => part.type === 'tool-call'),
  refused: content.some(part => part.type === 'refusal' && part.text !== ''),
})

/**
 * Returns the finish reason of an answer that states none: tool calls if it has any (trap 13), a refusal if it has one,
 * for which upstreams only state `stop` (trap 113), and `stop` otherwise.
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
 * Token counts of a request. An absent count is unknown, whereas 0 is a known count. The detailed counts are included
 * in `input` and `output`. There is no field for the total, because it is always their sum.
 */
export interface Usage extends Node {
  /** Number of tokens in the entire prompt, including cache reads and cache writes. */
  readonly input?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  /** Number of tokens in the entire answer, including reasoning. */
  readonly output?: number
  readonly reasoning?: number
  readonly inputBy?: { readonly [M in Modality]?: number }
  readonly outputBy?: { readonly [M in Modality]?: number }
  /** Number of billed searches, if the upstream counts them. */
  readonly searches?: number
  /** Calls of hosted tools by kind, such as `{ "web-search": 2 }`. */
  readonly hostedCalls?: JsonObject
}

/**
 * Adds up the usage of several requests. Returns undefined if there are none. A missing count is treated as zero if
 * another request has it. Spelling is dropped, because it applies only to a single request.
 */
export const totalUsage = (usages: readonly Usage[]): Usage | undefined =>
  usages.length === 0 ? undefined : (usages.map(withoutSpelling).reduce(addedCounts) as Usage)

const withoutSpelling = ({ spelling: _, ...counts }: Usage): JsonObject => counts as JsonObject

function addedCounts(a: JsonObject, b: JsonObject): JsonObject {
  const added = (left: Json | undefined, right: Json | undefined): Json => {
    if (typeof left === 'number' && typeof right === 'number') return left + right
    return isObject(left) && isObject(right) ? addedCounts(left, right) : (left ?? right ?? null)
  }
  return Object.fromEntries(Object.keys({ ...a, ...b }).map(key => [key, added(a[key], b[key])]))
}

/**
 * Shapes a ranking as the caller requested it, regardless of what the upstream supports: at most `top` documents, the
 * best first (docs/wire/rerank.md#response), with or without their content. Drops ranks of nonexistent documents.
 */
export function rankedAsRequested(result: CanonicalResult, { messages, output }: CanonicalRequest): CanonicalResult {
  const { ranking } = output
  if (ranking === undefined || isAsRequested(result, messages, ranking)) return result
  const withContent = (rank: RankPart): RankPart => {
    const { content: _, ...rankOnly } = rank
    return ranking.echo === true ? { ...rankOnly, content: messages[rank.index]!.content } : rankOnly
  }
  const candidates = result.candidates.map(candidate => {
    const known = candidate.content.filter((part: Part) => part.type !== 'rank' || messages[part.index] !== undefined)
    const ranked = isRanked(known) ? known : known.toSorted(byScore)
    const content = ranked.map((part: Part) => (part.type === 'rank' ? withContent(part) : part))
    return { ...candidate, content: ranking.top === undefined ? content : content.slice(0, ranking.top) }
  })
  return { ...result, candidates }
}

const byScore = (a: Part, b: Part): number => (a.type === 'rank' && b.type === 'rank' ? b.score - a.score : 0)

/**
 * Returns true if the best rank is first. Some servers answer in the order of the documents (mudler/LocalAI#7189, read on
 * 2026-12-01). An answer with entries of an unknown form keeps its order.
 */
const isRanked = (content: readonly Part[]): boolean =>
  content.some(({ type }) => type !== 'rank') ||
  content.every((part, index) => index === 0 || byScore(content[index - 1]!, part) <= 0)

const isAsRequested = (
  { candidates }: CanonicalResult,
  messages: CanonicalRequest['messages'],
  { echo, top = Number.POSITIVE_INFINITY }: NonNullable<CanonicalRequest['output']['ranking']>,
): boolean =>
  echo !== true &&
  candidates.every(
    ({ content }) =>
      content.length <= top &&
      isRanked(content) &&
      content.every(part => part.type !== 'rank' || (messages[part.index] !== undefined && part.content === undefined)),
  )
