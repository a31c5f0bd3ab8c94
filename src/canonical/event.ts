import type { Annotation, ImageProperties, MediaSource, Part, Signature } from './content.ts'
import type { CanonicalError } from './error.ts'
import type { Format, JsonObject, Node } from './node.ts'
import type { CanonicalResult, Finish, TokenLogprob, Transcript, Usage } from './result.ts'

/** The position of a part in an answer: candidate index and part index. */
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
 * part ends before its candidate ends. Usage is cumulative and may arrive at any point; the last usage event is final.
 * Parts that are still open when an error arrives are incomplete, so readers and writers must not emit their end (trap
 * 88).
 *
 * Annotations of a text may also arrive after its end, in a part-patch with no other field, until the candidate ends:
 * some upstreams add citations to a text after later parts (trap 82).
 */
export type CanonicalEvent =
  | ResultStart
  | PartEvent
  | { readonly type: 'logprobs'; readonly candidate: number; readonly append: readonly TokenLogprob[] }
  /** More of the transcript's timing. Lists are appended, other fields are replaced. */
  | { readonly type: 'transcript'; readonly candidate: number; readonly transcript: Transcript }
  | Preview
  | CandidateEnd
  | { readonly type: 'usage'; readonly usage: Usage }
  /** An event that only one format defines. It is not part of the result, so dropping it is not a loss. */
  | { readonly type: 'opaque'; readonly format: Format; readonly value: JsonObject }
  | { readonly type: 'error'; readonly error: CanonicalError }
  | ResultEnd

/** Returns an event's candidate. Events of the whole answer belong to the first candidate. */
export const candidateIn = (event: CanonicalEvent): number =>
  'at' in event ? event.at.candidate : 'candidate' in event ? event.candidate : 0

export type PartEvent = PartStart | PartDelta | PartPatch | PartEnd

export type ResultStart = { readonly type: 'result-start' } & Omit<CanonicalResult, 'candidates' | 'usage' | 'error'>

/** Starts a part with an empty body. A part that never grows is complete from the start. */
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

/** Ends a candidate and states why it stopped. */
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

/** Ends the answer, with the result fields that upstreams send last. */
export interface ResultEnd extends Node {
  readonly type: 'result-end'
  readonly serviceTier?: string
}
