import type { Annotation, Made, MediaSource, Part, Signature } from './content.ts'
import type { CanonicalError } from './error.ts'
import type { Format, JsonObject, Node } from './node.ts'
import type { CanonicalResult, Finish, TokenLogprob, Transcript, Usage } from './result.ts'

export interface At {
  readonly candidate: number
  readonly part: number
}

/**
 * One step of an answer. The grammar every reader produces and every writer may rely on:
 *
 *   result-start ( part-start (part-delta | part-patch)* part-end | logprobs | transcript | preview | opaque )* candidate-end* usage* ( result-end | error )
 *
 * Parts of a candidate start in order 0, 1, 2, …; open parts may interleave; a part starts with an empty body; every
 * part has ended when its candidate ends; usage is cumulative and may come anywhere, the last one is final. Parts that
 * are open when an error comes are incomplete: no reader emits their end, and no writer may either (trap 88).
 *
 * Annotations of a text may also come behind its end, until its candidate ends, as a part-patch of nothing else: some
 * upstreams cite a text when other parts have followed it (trap 82).
 */
export type CanonicalEvent =
  | ResultStart
  | PartEvent
  | { readonly type: 'logprobs'; readonly candidate: number; readonly append: readonly TokenLogprob[] }
  /** More of the transcript's times: lists are appended to, other fields are replaced. */
  | { readonly type: 'transcript'; readonly candidate: number; readonly transcript: Transcript }
  | Preview
  | CandidateEnd
  | { readonly type: 'usage'; readonly usage: Usage }
  /** An event that only one format defines; it has no place in the result, and not to pass it on is no loss. */
  | { readonly type: 'opaque'; readonly format: Format; readonly value: JsonObject }
  | { readonly type: 'error'; readonly error: CanonicalError }
  | ResultEnd

export type PartEvent = PartStart | PartDelta | PartPatch | PartEnd

export type ResultStart = { readonly type: 'result-start' } & Omit<CanonicalResult, 'candidates' | 'usage' | 'error'>

/** The part with an empty body; a part that never grows is complete here. */
export interface PartStart {
  readonly type: 'part-start'
  readonly at: At
  readonly part: Part
}

/**
 * Appends to the body of the part: text, arguments, data (whole groups of base64). `of` names another text of the part
 * that grows.
 */
export interface PartDelta {
  readonly type: 'part-delta'
  readonly at: At
  readonly append: string
  readonly of?: 'transcript'
}

/** Late fields of a part: annotations are appended, other fields are replaced. */
export interface PartPatch extends Node {
  readonly type: 'part-patch'
  readonly at: At
  readonly signature?: Signature
  readonly annotations?: readonly Annotation[]
  readonly part?: Part
}

export interface PartEnd {
  readonly type: 'part-end'
  readonly at: At
}

export interface CandidateEnd extends Node {
  readonly type: 'candidate-end'
  readonly candidate: number
  readonly finish?: Finish
}

/** An unfinished version of the candidate's image; the result does not contain it. */
export interface Preview extends Node {
  readonly type: 'preview'
  readonly candidate: number
  /** Counts from 0 for each candidate. */
  readonly index: number
  readonly source: MediaSource
  readonly made?: Made
}

/** Late fields of the whole result come with its end. */
export interface ResultEnd extends Node {
  readonly type: 'result-end'
  readonly serviceTier?: string
}
