import type { Bytes } from './bytes.ts'
import type { Format, JsonObject, Node } from './node.ts'
import type { Vector } from './vector.ts'

/** A hint that everything up to here be kept in the upstream's prompt cache. */
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
 * A model's reasoning. A signature is always a property of a reasoning part: where an upstream signs another kind of
 * part, the signature belongs to the reasoning right before that part, or to an empty reasoning part in that position.
 */
export interface ReasoningPart extends PartBase {
  readonly type: 'reasoning'
  readonly text: string
  readonly signature?: Signature
  /** The upstream hid the text; the signature holds it encrypted. */
  readonly redacted?: true
  /** A chunk of streamed reasoning: it continues the part before it. */
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
  /** The text spoken in generated audio. */
  readonly transcript?: string
  /** How a model generated it. */
  readonly made?: Made
  /**
   * A mask marks the area of another image that may be changed. In a request for a video: its last frame, or an image of
   * something to be seen in it; an image without a use is the first frame.
   */
  readonly use?: 'mask' | 'last-frame' | 'reference'
}

/** The properties of a generated image as the upstream reports them, in the values of its settings. */
export interface Made {
  /** The prompt the image was drawn by, where it differs from the caller's. */
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
  /** Name of the tool called, where the format has it here. */
  readonly name?: string
  readonly content: readonly Part[]
  readonly failed?: true
  readonly freeform?: true
}

export interface EmbeddingPart extends PartBase {
  readonly type: 'embedding'
  readonly vector: Vector
}

/** How well one of a request's documents fits its query. */
export interface RankPart extends PartBase {
  readonly type: 'rank'
  /** The document's index in the request's messages. */
  readonly index: number
  readonly score: number
  /** The document itself, where the answer repeats it. */
  readonly content?: readonly Part[]
}

/** A part of a type that only one format defines, kept in its place. */
export interface OpaquePart extends PartBase {
  readonly type: 'opaque'
  readonly format: Format
  readonly value: JsonObject
  /** The part as plain text, for formats that do not define its type. */
  readonly text?: string
  /**
   * Losing the part would change the request: it refers to something the upstream stores, or is all the input there is.
   */
  readonly reference?: true
  /** Its content is also present elsewhere in the request: a format that does not define it loses nothing. */
  readonly redundant?: true
  /** Data of the gateway, encrypted for one caller; the gateway decrypts it before it sends the request on. */
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
  /** Never in JSON: for a writer that cannot send raw bytes they are converted to base64. */
  | { readonly type: 'bytes'; readonly mediaType: string; readonly bytes: Bytes }
  | { readonly type: 'text'; readonly mediaType: string; readonly text: string }
  | { readonly type: 'url'; readonly url: string; readonly mediaType?: string }
  | { readonly type: 'file-id'; readonly format: Format; readonly id: string; readonly mediaType?: string }

/** Opaque proof of reasoning, to be returned unchanged; only its issuer can read it (traps 26-33). */
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
  /** The cited text of the source. */
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
