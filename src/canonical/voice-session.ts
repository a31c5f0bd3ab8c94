import type { Part } from './content.ts'
import type { JsonObject, Node } from './node.ts'
import type { Modality, Reasoning, Role } from './request.ts'
import type { Tool, ToolChoice } from './tool.ts'

/** Encoding of mono audio: 16-bit little-endian PCM, or G.711 at 8 kHz. */
export interface AudioFormat {
  readonly encoding: 'pcm16' | 'mulaw' | 'alaw'
  /** Number of samples per second. */
  readonly rate: number
}

export const PCM_24K: AudioFormat = { encoding: 'pcm16', rate: 24_000 }
export const PCM_16K: AudioFormat = { encoding: 'pcm16', rate: 16_000 }
export const MULAW: AudioFormat = { encoding: 'mulaw', rate: 8000 }
export const ALAW: AudioFormat = { encoding: 'alaw', rate: 8000 }

/** Returns true if two formats are equal, so that audio needs no conversion. */
export const isSameAudioFormat = (a: AudioFormat, b: AudioFormat): boolean =>
  a.encoding === b.encoding && a.rate === b.rate

export const bytesPerSecond = ({ encoding, rate }: AudioFormat): number => (encoding === 'pcm16' ? 2 * rate : rate)

/**
 * Detection of the end of a user's turn: by silence (`server_vad`) or by meaning (`semantic_vad`). Null leaves the
 * detection to the client, which sends `audio-commit` and `response-create`.
 */
export type TurnDetection = Node & {
  /** Whether the end of the user's turn starts a response. True if absent. */
  readonly respond?: boolean
  /** Whether the user's speech interrupts a running response. True if absent. */
  readonly interrupt?: boolean
} & (
    | {
        readonly type: 'silence'
        /** Activation threshold, 0 to 1. */
        readonly threshold?: number
        /** Length of audio before the detected start of speech that is treated as speech, in milliseconds. */
        readonly prefixMs?: number
        /** Length of silence that ends the turn, in milliseconds. */
        readonly silenceMs?: number
        /** Time without speech after which a response starts anyway, in milliseconds. */
        readonly idleMs?: number
      }
    | { readonly type: 'semantic'; readonly eagerness?: string }
  )

/** Transcription of the user's speech. */
export interface InputTranscription extends Node {
  readonly model?: string
  readonly language?: string
  readonly prompt?: string
}

/**
 * Settings of a voice session, or a change to them. In a change, an absent field keeps its value and null clears it.
 * `input` and `output` are merged field by field. Objects inside them are replaced.
 */
export interface VoiceSessionSettings extends Node {
  readonly model?: string
  /** Purpose of a session that only transcribes. Absent for a conversation. */
  readonly purpose?: 'transcription'
  readonly instructions?: string
  readonly modalities?: readonly Modality[]
  readonly tools?: readonly Tool[]
  readonly toolChoice?: ToolChoice
  readonly parallelToolCalls?: boolean
  /** Maximum number of tokens of one response. */
  readonly maxTokens?: number | 'unlimited'
  readonly temperature?: number
  readonly reasoning?: Reasoning
  readonly input?: InputSettings
  readonly output?: OutputSettings
}

export interface InputSettings extends Node {
  readonly format?: AudioFormat
  /** Transcription of the user's speech. Null turns it off. */
  readonly transcription?: InputTranscription | null
  readonly noiseReduction?: string | null
  readonly turnDetection?: TurnDetection | null
}

export interface OutputSettings extends Node {
  readonly format?: AudioFormat
  readonly voice?: string
  readonly speed?: number
}

/** Settings of one response. Absent fields default to those of the session. */
export interface ResponseSettings extends VoiceSessionSettings {
  /** True if the response is not added to the conversation. */
  readonly detached?: true
  /** Items to respond to instead of the conversation. */
  readonly context?: readonly ConversationItem[]
  readonly metadata?: JsonObject
}

/**
 * One item of a voice conversation. A function call is an assistant item with one tool-call part, and its output is a
 * tool item with one tool-result part. A media part with empty data represents audio that is not repeated.
 */
export interface ConversationItem extends Node {
  /** Id of the item, or undefined only in an `item-create` that leaves the id to the server. */
  readonly id?: string
  readonly role: Role
  readonly content: readonly Part[]
  readonly status?: ItemStatus
  /** True if the item, which has no content, stands for the one of the conversation with its id. Only in a `context`. */
  readonly isReference?: true
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'
