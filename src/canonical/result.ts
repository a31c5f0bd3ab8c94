import type { Part } from './content.ts'
import type { CanonicalError } from './error.ts'
import type { JsonObject, Node } from './node.ts'
import type { Modality } from './request.ts'
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
  /** The writer is to add what answers of its format always have, where an upstream of that very format left it out. */
  readonly complete?: true
  /** Work that outlives the exchange, instead of candidates: the upstream is asked again with the result's id. */
  readonly task?: CanonicalTask
  /** What came before it in this result still stands. */
  readonly error?: CanonicalError
}

export interface Candidate extends Node {
  readonly content: readonly Part[]
  readonly finish?: Finish
  readonly logprobs?: readonly TokenLogprob[]
  /** When what was said, where the content is the text of a recording. */
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
  /** The upstream's own word for it. */
  readonly raw?: string
  /** The stop sequence that was met. */
  readonly stopSequence?: string
}

export interface TokenLogprob extends Node {
  readonly token: string
  readonly logprob: number
  readonly bytes?: readonly number[]
  readonly top?: readonly TokenLogprob[]
}

/**
 * Tokens spent. Absent is unknown; zero is zero. Details are parts of the counts, never beside them, and the total is
 * always the sum of input and output, so that nobody tells it apart.
 */
export interface Usage extends Node {
  /** The whole prompt, what was read from and written to a cache included. */
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
