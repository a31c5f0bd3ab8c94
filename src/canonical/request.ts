import type { CacheHint, Part } from './content.ts'
import type { JsonObject, Node } from './node.ts'
import type { Tool, ToolChoice } from './tool.ts'

/**
 * The gateway's only request type. Requests in every format are read into it, and every upstream request is written
 * from it.
 */
export interface CanonicalRequest extends Node {
  /** Model name that the caller used. The router maps it to the name at each channel. */
  readonly model: string
  readonly messages: readonly Message[]
  readonly tools?: readonly Tool[]
  readonly toolChoice?: ToolChoice
  readonly parallelToolCalls?: boolean
  readonly output: Output
  readonly sampling: Sampling
  readonly reasoning?: Reasoning
  /** State that the upstream already stores or should store. */
  readonly state?: State
  readonly endUser?: string
  readonly metadata?: JsonObject
  readonly serviceTier?: string
  readonly cache?: CacheHint
  /** Key shared by requests with a common prefix. An upstream may route them to the same cache. */
  readonly cacheKey?: string
  readonly stream: boolean
}

export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool'

/** Returns true if messages with this role are instructions instead of turns. */
export const isInstructing = (role: Role): boolean => role === 'system' || role === 'developer'

/** Returns the number of leading messages that are instructions. */
export function leadingInstructions(messages: readonly Message[]): number {
  const first = messages.findIndex(({ role }) => !isInstructing(role))
  return first === -1 ? messages.length : first
}

/** One turn of a conversation, or one input of a request whose inputs are independent (`work.ts`). */
export interface Message extends Node {
  readonly role: Role
  readonly content: readonly Part[]
  /** Name of the speaker, if several share a role. */
  readonly name?: string
}

/** Creates a user turn with one text part. */
export const userMessage = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

/** Text of the user turn that writers insert where an upstream requires one and the conversation has none. */
export const CONTINUE = 'Continue.'
export const CONTINUE_TURN: Message = userMessage(CONTINUE)

/** Returns true if there are messages, and all of them are without content or have empty texts only. */
export const saysNothing = (messages: readonly Message[]): boolean =>
  messages.length > 0 &&
  messages.every(({ content }) => content.every(part => part.type === 'text' && part.text === ''))

/** Returns true if a request contains only text, so that processing of media, calls and reasoning can be skipped. */
export const isTextOnly = ({ messages }: CanonicalRequest): boolean =>
  messages.every(({ content }) => content.every(isText))

const isText = ({ type }: Part): boolean => type === 'text'

/** Sampling settings of a request. */
export interface Sampling extends Node {
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly seed?: number
  readonly stop?: readonly string[]
  readonly frequencyPenalty?: number
  readonly presencePenalty?: number
  /** Number of most likely tokens to report along with each chosen token. 0 reports only the chosen tokens. */
  readonly logprobs?: number
}

/** Reasoning efforts, weakest first. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof EFFORTS)[number]
export const isEffort = (value: unknown): value is Effort => EFFORTS.includes(value as Effort)

/** Settings for the model's reasoning. */
export interface Reasoning extends Node {
  readonly effort?: Effort
  /** Maximum number of tokens for reasoning. -1 leaves the limit to the model, 0 turns reasoning off. */
  readonly budget?: number
  /** Whether the answer shows the reasoning. */
  readonly show?: boolean
}

/** Returns true if the settings turn reasoning off. Returns undefined if they set neither effort nor budget. */
export function isReasoningOff({ effort, budget }: Reasoning): boolean | undefined {
  if (effort !== undefined) return effort === 'none'
  return budget === undefined ? undefined : budget === 0
}

/** State at the upstream that outlives the request. */
export interface State {
  readonly store?: boolean
  /** Id of the result that this request continues. */
  readonly previous?: string
  readonly conversation?: string
  /** True if the upstream answers immediately and continues the work in the background. */
  readonly background?: boolean
  readonly thread?: Thread
}

/** A conversation that the upstream stores. A request that continues it contains only the new turns. */
export interface Thread extends Node {
  /** Id of the result that this request continues, or undefined at the start of a thread. */
  readonly previous?: string
}

export type Modality = 'text' | 'image' | 'audio' | 'video' | 'embedding'

/** Required shape of the answer's text. */
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
  /** The answer is one of several strings. The schema is a string schema with an `enum`. */
  | { readonly shape: 'enum'; readonly schema: JsonObject }

/** Requested output. Media, embedding and ranking requests use this type too, each with a field of their own. */
export interface Output extends Node {
  /** Modalities of the answer. Text if absent. */
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
    /** Compression of the image, 0 to 100. */
    readonly compression?: number
    /** Degree to which an edited image must resemble its input images. */
    readonly fidelity?: string
    /** Strictness of the upstream's moderation of the image. */
    readonly moderation?: string
    /** Number of preview images in a stream. */
    readonly previews?: number
    /** Form in which the caller gets the image. */
    readonly delivery?: 'url' | 'bytes'
  } & Node
  readonly audio?: { readonly voice?: string; readonly mediaType?: string; readonly speed?: number } & Node
  readonly video?: {
    readonly seconds?: number
    /** Size in pixels such as `1280x720`, or a format's own value. */
    readonly size?: string
    /** `16:9`. Ignored if there is a size. */
    readonly aspectRatio?: string
    /** `720p`. Ignored if there is a size. */
    readonly resolution?: string
    /** A format's own quality level. */
    readonly quality?: string
    /** Description of content to avoid in the video. */
    readonly negativePrompt?: string
    /** Id of a finished task whose video the prompt modifies. */
    readonly remixOf?: string
    /** Reference by which the upstream can find the task, unique in the upstream account. */
    readonly reference?: string
  } & Node
  /** Each message is one input to embed. */
  readonly embedding?: {
    readonly dimensions?: number
    readonly encoding?: 'float' | 'base64'
    /** Intended use of the vectors. Some models optimise for it. */
    readonly purpose?: EmbeddingPurpose
  } & Node
  /** Each message is one document to rank. */
  readonly ranking?: {
    readonly query: string
    /** Number of documents to return, best first. */
    readonly top?: number
    /** Whether the answer repeats the documents. */
    readonly echo?: boolean
  } & Node
  readonly transcript?: {
    readonly task: 'transcribe' | 'translate'
    /** The language of the recording. */
    readonly language?: string
    readonly timestamps?: readonly ('word' | 'segment')[]
    /** Whether the transcript identifies speakers. */
    readonly speakers?: boolean
    /** Words to expect, such as names and technical terms. */
    readonly keywords?: readonly string[]
  } & Node
  /** The output continues the last message's text instead of answering it. */
  readonly completion?: { readonly suffix?: string; readonly echo?: boolean } & Node
  /** True if the only requested output is the number of tokens in the request. */
  readonly count?: true
  /** Marks a request for a compacted form of the conversation, from which the conversation can continue. */
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
