import type { Bytes } from './bytes.ts'
import type { Format, JsonObject, Node } from './node.ts'
import type { NumbersText } from './vector.ts'

/** A caller's wish that everything up to here be kept in the upstream's prompt cache. */
export interface CacheHint extends Node {
  readonly ttl?: string
}

interface PartBase extends Node {
  readonly cache?: CacheHint
}

export interface TextPart extends PartBase {
  readonly type: 'text'
  readonly text: string
  readonly annotations?: readonly Annotation[]
}

/**
 * What a model thought. A signature is always the property of a reasoning part: where an upstream signs another kind of
 * part, it is that of the thought just before the part, or of an empty reasoning part standing there.
 */
export interface ReasoningPart extends PartBase {
  readonly type: 'reasoning'
  readonly text: string
  readonly signature?: Signature
  /** The upstream hid the text; the signature holds it encrypted. */
  readonly redacted?: true
  /** A piece of a streamed thought: it goes on where the part before it ended. */
  readonly continues?: true
}

export interface RefusalPart extends PartBase {
  readonly type: 'refusal'
  readonly text: string
}

export type MediaKind = 'image' | 'audio' | 'video' | 'file'

export interface MediaPart extends PartBase {
  readonly type: 'media'
  readonly kind: MediaKind
  readonly source: MediaSource
  /** File name or title. */
  readonly name?: string
  /** How closely to look: low, high, auto, original. */
  readonly detail?: string
  /** What is said in audio the model made. */
  readonly transcript?: string
  /** How a model made it. */
  readonly made?: Made
  /**
   * Not a picture to look at: the mask that says where another may be changed; of a video, the last frame, or something
   * to be seen in it. A video's picture without a use is its first frame.
   */
  readonly use?: 'mask' | 'last-frame' | 'reference'
}

/** What a picture came to look like, as the upstream tells it; in the words of its settings. */
export interface Made {
  /** The prompt it was drawn by, where that is not the caller's. */
  readonly prompt?: string
  readonly size?: string
  readonly quality?: string
  readonly background?: string
}

export interface ToolCallPart extends PartBase {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** JSON text as the model wrote it, maybe unfinished or malformed; plain text when the call is freeform. */
  readonly arguments: string
  /** A call of a freeform tool: its arguments are text, not JSON. */
  readonly freeform?: true
  /** The group the tool belongs to, where tools are grouped. */
  readonly namespace?: string
}

export interface ToolResultPart extends PartBase {
  readonly type: 'tool-result'
  /** Id of the call it answers. */
  readonly id: string
  /** Name of the tool called, where the format says it here. */
  readonly name?: string
  readonly content: readonly Part[]
  readonly failed?: true
  readonly freeform?: true
}

/** Numbers, or the base64 of as many little-endian 32-bit floats (FORMATS §8): turned into one another, or read at all, only where asked. */
export type Vector = readonly number[] | string | NumbersText

export interface EmbeddingPart extends PartBase {
  readonly type: 'embedding'
  readonly vector: Vector
}

/** How well one of a request's documents fits its query. */
export interface RankPart extends PartBase {
  readonly type: 'rank'
  /** Which document: its place among the request's messages. */
  readonly index: number
  readonly score: number
  /** The document itself, where it is told again. */
  readonly content?: readonly Part[]
}

/** A piece only one format knows, kept in its place. */
export interface OpaquePart extends PartBase {
  readonly type: 'opaque'
  readonly format: Format
  readonly value: JsonObject
  /** The piece in plain words, for formats that do not know it. */
  readonly text?: string
  /** Without it the request is another one: it stands for something the upstream keeps, or is all there is to work on. */
  readonly reference?: true
  /** All it says is read elsewhere in the request, too: a format that does not know it loses nothing. */
  readonly redundant?: true
  /** The gateway's own words, encrypted for one caller: it opens them before anybody is asked. */
  readonly sealed?: string
}

export type Part =
  | TextPart
  | ReasoningPart
  | RefusalPart
  | MediaPart
  | ToolCallPart
  | ToolResultPart
  | EmbeddingPart
  | RankPart
  | OpaquePart

export type MediaSource =
  | { readonly type: 'base64'; readonly mediaType: string; readonly data: string }
  /** Never in JSON: a writer that cannot send bytes as they come gets them as base64. */
  | { readonly type: 'bytes'; readonly mediaType: string; readonly bytes: Bytes }
  | { readonly type: 'text'; readonly mediaType: string; readonly text: string }
  | { readonly type: 'url'; readonly url: string; readonly mediaType?: string }
  | { readonly type: 'file-id'; readonly format: Format; readonly id: string; readonly mediaType?: string }

/** Opaque proof of reasoning, to be handed back as it came; only its issuer can read it (traps 26-33). */
export interface Signature {
  /** The format whose upstream made it. */
  readonly format: Format
  readonly value: string
}

export type Annotation = Citation | OpaqueAnnotation

export interface Citation extends Node {
  readonly type: 'citation'
  readonly url: string
  readonly title?: string
  /** The cited words of the source. */
  readonly quote?: string
  /** Where in the part's text the citation applies, in UTF-16 units, end exclusive. */
  readonly start?: number
  readonly end?: number
}

export interface OpaqueAnnotation {
  readonly type: 'opaque'
  readonly format: Format
  readonly value: JsonObject
}
