import type { Part } from './content.ts'
import type { JsonObject, Node } from './node.ts'
import type { Modality, Reasoning, Role } from './request.ts'
import type { Tool, ToolChoice } from './tool.ts'

/** The encoding of mono audio: 16-bit little-endian PCM, or G.711 at 8 kHz. */
export interface AudioFormat {
  readonly encoding: 'pcm16' | 'mulaw' | 'alaw'
  /** Samples per second. */
  readonly rate: number
}

export const PCM_24K: AudioFormat = { encoding: 'pcm16', rate: 24_000 }
export const PCM_16K: AudioFormat = { encoding: 'pcm16', rate: 16_000 }
export const MULAW: AudioFormat = { encoding: 'mulaw', rate: 8000 }
export const ALAW: AudioFormat = { encoding: 'alaw', rate: 8000 }

/** Whether two audio formats are equal. */
export const isSameAudioFormat = (a: AudioFormat, b: AudioFormat): boolean =>
  a.encoding === b.encoding && a.rate === b.rate

/** Returns the bytes of one second of audio. */
export const bytesPerSecond = ({ encoding, rate }: AudioFormat): number => (encoding === 'pcm16' ? 2 * rate : rate)

/**
 * How the end of a user's turn is detected: by silence (`server_vad`) or by meaning (`semantic_vad`). Null leaves it to
 * the client, which sends `audio-commit` and `response-create`.
 */
export type TurnDetection = Node & {
  /** Whether the end of the user's turn starts a response; true if absent. */
  readonly respond?: boolean
  /** Whether the user's speech interrupts a running response; true if absent. */
  readonly interrupt?: boolean
} & (
    | {
        readonly type: 'silence'
        /** Activation threshold, 0 to 1. */
        readonly threshold?: number
        /** Milliseconds of audio before the detected speech that belong to the speech. */
        readonly prefixMs?: number
        /** Milliseconds of silence that end the turn. */
        readonly silenceMs?: number
        /** Milliseconds without speech after which a response starts anyway. */
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
 * Settings of a voice session, or a change of them: an absent field stays as it is, null clears a field. `input` and
 * `output` are merged field by field; objects inside them are replaced.
 */
export interface VoiceSessionSettings extends Node {
  readonly model?: string
  /** Set if the session only transcribes; a conversation if absent. */
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
  /** Transcription of the user's speech; null turns it off. */
  readonly transcription?: InputTranscription | null
  readonly noiseReduction?: string | null
  readonly turnDetection?: TurnDetection | null
}

export interface OutputSettings extends Node {
  readonly format?: AudioFormat
  readonly voice?: string
  readonly speed?: number
}

/** Settings of one response; absent fields are taken from the session. */
export interface ResponseSettings extends VoiceSessionSettings {
  /** The response does not become part of the conversation. */
  readonly detached?: true
  /** Items that the response answers instead of the conversation. */
  readonly context?: readonly ConversationItem[]
  readonly metadata?: JsonObject
}

/**
 * One item of a voice conversation. A function call is an assistant item with one tool-call part; its output is a tool
 * item with one tool-result part. Audio that is mentioned but not repeated is a media part with empty data.
 */
export interface ConversationItem extends Node {
  /** Undefined only in an `item-create` that leaves the id to the server. */
  readonly id?: string
  readonly role: Role
  readonly content: readonly Part[]
  readonly status?: ItemStatus
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'
