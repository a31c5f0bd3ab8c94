import type { Annotation, ImageProperties, MediaSource, Part, Signature } from './content.ts'
import type { CanonicalError } from './error.ts'
import type { Format, JsonObject, Node } from './node.ts'
import type { CanonicalResult, Finish, TokenLogprob, Transcript, Usage } from './result.ts'

/** The position of a part in an answer: the indexes of its candidate and of the part. */
export interface PartPosition {
  readonly candidate: number
  readonly part: number
}

/**
 * An event of a streamed answer. Every reader produces this grammar, and every writer relies on it:
 *
 *    result-start ( part-start (part-delta | part-patch)* part-end | logprobs | transcript | preview | opaque )* candidate-end* usage* ( result-end | error )
 *
 * The parts of a candidate start in order 0, 1, 2, …, each with an empty body, and open parts may interleave. Every
 * part ends before its candidate ends. Usage is cumulative and may come at any point; the last one is final. Parts that
 * are open when an error comes are incomplete, so no reader and no writer may emit their end (trap 88).
 *
 * Annotations of a text may also follow its end, as a part-patch of nothing else, until the candidate ends: some
 * upstreams cite a text after further parts have followed it (trap 82).
 */
export type CanonicalEvent =
  | ResultStart
  | PartEvent
  | { readonly type: 'logprobs'; readonly candidate: number; readonly append: readonly TokenLogprob[] }
  /** Further times of the transcript. Lists are appended. Other fields are replaced. */
  | { readonly type: 'transcript'; readonly candidate: number; readonly transcript: Transcript }
  | Preview
  | CandidateEnd
  | { readonly type: 'usage'; readonly usage: Usage }
  /** An event that only one format defines. The result does not contain it, so dropping it is no loss. */
  | { readonly type: 'opaque'; readonly format: Format; readonly value: JsonObject }
  | { readonly type: 'error'; readonly error: CanonicalError }
  | ResultEnd

/** Returns the candidate of an event. Events of the whole answer count as those of the first candidate. */
export const candidateIn = (event: CanonicalEvent): number =>
  'at' in event ? event.at.candidate : 'candidate' in event ? event.candidate : 0

export type PartEvent = PartStart | PartDelta | PartPatch | PartEnd

export type ResultStart = { readonly type: 'result-start' } & Omit<CanonicalResult, 'candidates' | 'usage' | 'error'>

/** Starts a part, with an empty body. A part that never grows is complete here. */
export interface PartStart {
  readonly type: 'part-start'
  readonly at: PartPosition
  readonly part: Part
}

/**
 * Appends to the body of a part: to its text, its arguments, or its data in whole groups of base64. `of` names another
 * string of the part to append to.
 */
export interface PartDelta {
  readonly type: 'part-delta'
  readonly at: PartPosition
  readonly append: string
  readonly of?: 'transcript'
}

/** Adds fields to an open part: annotations are appended, other fields are replaced. */
export interface PartPatch extends Node {
  readonly type: 'part-patch'
  readonly at: PartPosition
  readonly signature?: Signature
  readonly annotations?: readonly Annotation[]
  readonly part?: Part
}

/** Ends a part: its body is complete. */
export interface PartEnd {
  readonly type: 'part-end'
  readonly at: PartPosition
}

/** Ends a candidate, with the reason why it stopped. */
export interface CandidateEnd extends Node {
  readonly type: 'candidate-end'
  readonly candidate: number
  readonly finish?: Finish
}

/** An unfinished version of a candidate's image. The result does not contain it. */
export interface Preview extends Node {
  readonly type: 'preview'
  readonly candidate: number
  /** Index of the preview, starting at 0 for each candidate. */
  readonly index: number
  readonly source: MediaSource
  readonly made?: ImageProperties
}

/** Ends the answer, with the fields of the result that upstreams send last. */
export interface ResultEnd extends Node {
  readonly type: 'result-end'
  readonly serviceTier?: string
}
