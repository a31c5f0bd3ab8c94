import type { Bytes } from './bytes.ts'
import type { Format, JsonObject, Node } from './node.ts'
import type { Vector } from './vector.ts'

/** A hint that the upstream should cache the prompt up to and including this node. */
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
 * A model's reasoning. Only reasoning parts have signatures. If an upstream signs another kind of part, the signature
 * belongs to the reasoning right before that part, or to an empty reasoning part at that position.
 */
export interface ReasoningPart extends PartBase {
  readonly type: 'reasoning'
  readonly text: string
  readonly signature?: Signature
  /** True if the upstream hid the text. The signature then holds the text in encrypted form. */
  readonly redacted?: true
  /** True if the chunk continues the reasoning part before it. */
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
  /** Resolution at which the model views the image: low, high, auto or original. */
  readonly detail?: string
  /** Text spoken in generated audio. */
  readonly transcript?: string
  /** Properties of a generated image. */
  readonly made?: ImageProperties
  /**
   * The role of an image in the request. A mask marks the area of another image that may be changed. In a video
   * request, an image is the last frame (`last-frame`), shows something that the video should contain (`reference`), or
   * is the first frame if `use` is absent.
   */
  readonly use?: 'mask' | 'last-frame' | 'reference'
}

/** Properties of a generated image as reported by the upstream, with the same values as the request settings. */
export interface ImageProperties {
  /** Prompt as revised by the upstream, if it differs from the caller's. */
  readonly prompt?: string
  readonly size?: string
  readonly quality?: string
  readonly background?: string
}

export interface ToolCallPart extends PartBase {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** JSON text as the model wrote it, possibly incomplete or malformed. Plain text for a freeform call. */
  readonly arguments: string
  /** Marks a call of a freeform tool, whose arguments are text instead of JSON. */
  readonly freeform?: true
  /** Namespace of the tool, if tools have namespaces. */
  readonly namespace?: string
}

export interface ToolResultPart extends PartBase {
  readonly type: 'tool-result'
  /** Id of the answered call. */
  readonly id: string
  /** Name of the called tool, if the format states it with the result. */
  readonly name?: string
  readonly content: readonly Part[]
  readonly failed?: true
  readonly freeform?: true
}

/** A web search that the upstream ran on its own. */
export interface SearchCallPart extends PartBase {
  readonly type: 'search-call'
  readonly id: string
  readonly queries: readonly string[]
}

/** The pages that a search found. Directly follows the search. */
export interface SearchResultPart extends PartBase {
  readonly type: 'search-result'
  /** Id of the search. */
  readonly id: string
  readonly sources: readonly SearchSource[]
}

export interface SearchSource extends Node {
  readonly url: string
  readonly title?: string
}

export interface EmbeddingPart extends PartBase {
  readonly type: 'embedding'
  readonly vector: Vector
}

/** Relevance of one document to the query in a ranking request. */
export interface RankPart extends PartBase {
  readonly type: 'rank'
  /** Index of the document in the request's messages. */
  readonly index: number
  readonly score: number
  /** Content of the document, if the answer repeats it. */
  readonly content?: readonly Part[]
}

/** A part of a type that only one format defines. Other formats' writers drop it or write its text. */
export interface OpaquePart extends PartBase {
  readonly type: 'opaque'
  readonly format: Format
  readonly value: JsonObject
  /** Plain text that replaces the part in formats without its type. */
  readonly text?: string
  /**
   * True if dropping the part would change the request, because the part refers to data stored at the upstream or is
   * the entire input.
   */
  readonly reference?: true
  /** True if another part of the request has the same content, so that a format without the type loses nothing. */
  readonly redundant?: true
  /** State that the gateway encrypted for one caller. It is decrypted before the upstream request is written. */
  readonly encrypted?: string
}

export type Part =
  | TextPart
  | ReasoningPart
  | RefusalPart
  | MediaPart
  | ToolCallPart
  | ToolResultPart
  | SearchCallPart
  | SearchResultPart
  | EmbeddingPart
  | RankPart
  | OpaquePart

export type MediaSource =
  | { readonly type: 'base64'; readonly mediaType: string; readonly data: string }
  /** Raw bytes. They are converted to base64 for writers that cannot send them. */
  | { readonly type: 'bytes'; readonly mediaType: string; readonly bytes: Bytes }
  | { readonly type: 'text'; readonly mediaType: string; readonly text: string }
  | { readonly type: 'url'; readonly url: string; readonly mediaType?: string }
  | { readonly type: 'file-id'; readonly format: Format; readonly id: string; readonly mediaType?: string }

/** An upstream's signature of its reasoning, opaque to everyone else. It must be returned unchanged (traps 26-33). */
export interface Signature {
  /** Format of the upstream that issued the signature. */
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
  /** Range of the part's text that the citation supports, in UTF-16 units. The end is exclusive. */
  readonly start?: number
  readonly end?: number
}

export interface OpaqueAnnotation {
  readonly type: 'opaque'
  readonly format: Format
  readonly value: JsonObject
}
