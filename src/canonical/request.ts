import type { CacheHint, Part } from './content.ts'
import type { JsonObject, Node } from './node.ts'
import type { Tool, ToolChoice } from './tool.ts'

/** The one request type of the gateway: every format is read into it, every upstream's request is written from it. */
export interface CanonicalRequest extends Node {
  /** As the caller named it; the router maps it to each channel's name. */
  readonly model: string
  readonly messages: readonly Message[]
  readonly tools?: readonly Tool[]
  readonly toolChoice?: ToolChoice
  readonly parallelToolCalls?: boolean
  readonly output: Output
  readonly sampling: Sampling
  readonly reasoning?: Reasoning
  /** What the upstream is to store, or has stored. */
  readonly state?: State
  readonly endUser?: string
  readonly metadata?: JsonObject
  readonly serviceTier?: string
  /** A cache hint for the whole prompt. */
  readonly cache?: CacheHint
  /** Requests with the same key share a prefix: an upstream may route them to the same cache. */
  readonly cacheKey?: string
  readonly stream: boolean
}

export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool'

/** Whether messages of the role instruct the model instead of speaking with it. */
export const isInstructing = (role: Role): boolean => role === 'system' || role === 'developer'

export interface Message extends Node {
  readonly role: Role
  readonly content: readonly Part[]
  /** Who speaks, where several share a role. */
  readonly name?: string
}

/** A turn of the user that is one text. */
export const userMessage = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

/** Whether a request is nothing but text: what is done for media, calls and thoughts does not concern it. */
export const isTextOnly = ({ messages }: CanonicalRequest): boolean =>
  messages.every(({ content }) => content.every(isText))

const isText = ({ type }: Part): boolean => type === 'text'

export interface Sampling extends Node {
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly seed?: number
  readonly stop?: readonly string[]
  readonly frequencyPenalty?: number
  readonly presencePenalty?: number
  /** How many likely tokens to report beside each chosen one; 0 reports the chosen one alone. */
  readonly logprobs?: number
}

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof EFFORTS)[number]
export const isEffort = (value: unknown): value is Effort => EFFORTS.includes(value as Effort)

export interface Reasoning extends Node {
  readonly effort?: Effort
  /** Tokens the model may think with; -1 leaves it to the model, 0 forbids. */
  readonly budget?: number
  /** Whether the caller wants to see the thoughts. */
  readonly show?: boolean
}

/** State on the upstream's side that outlives the exchange. */
export interface State {
  readonly store?: boolean
  /** Id of the earlier result this one continues. */
  readonly previous?: string
  readonly conversation?: string
  /** Answer at once and continue the work in the background. */
  readonly background?: boolean
  readonly thread?: Thread
}

/** The upstream stores the conversation for the requests that continue it, which contain only what is new. */
export interface Thread extends Node {
  /** Id of the result that this request continues; absent where a thread begins. */
  readonly previous?: string
}

export type Modality = 'text' | 'image' | 'audio' | 'video' | 'embedding'

export type TextShape =
  | { readonly shape: 'text' }
  | { readonly shape: 'json' }
  | {
      readonly shape: 'schema'
      readonly schema: JsonObject
      readonly name?: string
      readonly description?: string
      readonly strict?: boolean
    }
  /** One of several texts, which is the whole answer; the schema is of a string with an `enum`. */
  | { readonly shape: 'enum'; readonly schema: JsonObject }

/** The requested output. A media request is this same type with another modality. */
export interface Output extends Node {
  /** Absent means text. */
  readonly modalities?: readonly Modality[]
  readonly candidates?: number
  readonly text?: TextShape & Node
  readonly verbosity?: string
  readonly image?: {
    /** `1024x1536`, or a format's own value. */
    readonly size?: string
    readonly quality?: string
    readonly style?: string
    readonly background?: string
    readonly mediaType?: string
    /** How much to compress, 0 to 100. */
    readonly compression?: number
    /** How closely an image edited from others keeps to them. */
    readonly fidelity?: string
    /** How strictly the upstream moderates what is drawn. */
    readonly moderation?: string
    /** How many unfinished images a stream shows. */
    readonly previews?: number
    /** Whether the caller gets a URL to fetch the image from, or the image itself. */
    readonly delivery?: 'url' | 'bytes'
  } & Node
  readonly audio?: { readonly voice?: string; readonly mediaType?: string; readonly speed?: number } & Node
  readonly video?: {
    readonly seconds?: number
    /** In pixels, `1280x720`, or a format's own value. */
    readonly size?: string
    /** `16:9`; where there is a size, too, the size counts. */
    readonly aspectRatio?: string
    /** `720p`; where there is a size, too, the size counts. */
    readonly resolution?: string
    /** A format's own quality level. */
    readonly quality?: string
    /** What should not be seen. */
    readonly negativePrompt?: string
    /** Id of the finished task whose video the prompt changes. */
    readonly remixOf?: string
    /** The name under which the upstream finds the task again, unique among those of its account. */
    readonly reference?: string
  } & Node
  /** Each message is one input to embed. */
  readonly embedding?: {
    readonly dimensions?: number
    readonly encoding?: 'float' | 'base64'
    /** The purpose of the vectors. */
    readonly purpose?: EmbeddingPurpose
  } & Node
  /** Each message is one document to rank. */
  readonly ranking?: {
    readonly query: string
    /** The number of best documents to return. */
    readonly top?: number
    /** Whether the documents are repeated beside their scores. */
    readonly echo?: boolean
  } & Node
  readonly transcript?: {
    readonly task: 'transcribe' | 'translate'
    /** The language of the recording. */
    readonly language?: string
    readonly timestamps?: readonly ('word' | 'segment')[]
    /** Whether speakers are identified. */
    readonly speakers?: boolean
    /** Expected words: names, technical terms. */
    readonly keywords?: readonly string[]
  } & Node
  /** The output is a text that continues the last message, not an answer to it. */
  readonly completion?: { readonly suffix?: string; readonly echo?: boolean } & Node
  /** The output is the number of tokens of the request, without an answer. */
  readonly count?: true
  /** The output is a compacted form of the conversation, from which it can be continued. */
  readonly compaction?: true
}

export type EmbeddingPurpose =
  | 'query'
  | 'document'
  | 'similarity'
  | 'classification'
  | 'clustering'
  | 'question-answering'
  | 'fact-verification'
  | 'code-query'
