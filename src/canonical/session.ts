import type { Part } from './content.ts'
import type { JsonObject, Node } from './node.ts'
import type { Modality, Reasoning, Role } from './request.ts'
import type { Tool, ToolChoice } from './tool.ts'

/** How samples of one channel are written: 16-bit little-endian PCM, or G.711 (8 kHz). */
export interface AudioFormat {
  readonly encoding: 'pcm16' | 'mulaw' | 'alaw'
  /** Samples a second. */
  readonly rate: number
}

export const PCM_24K: AudioFormat = { encoding: 'pcm16', rate: 24_000 }
export const PCM_16K: AudioFormat = { encoding: 'pcm16', rate: 16_000 }
export const MULAW: AudioFormat = { encoding: 'mulaw', rate: 8000 }
export const ALAW: AudioFormat = { encoding: 'alaw', rate: 8000 }

export const sameFormat = (a: AudioFormat, b: AudioFormat): boolean => a.encoding === b.encoding && a.rate === b.rate

/** Bytes of one second of audio. */
export const bytesPerSecond = ({ encoding, rate }: AudioFormat): number => (encoding === 'pcm16' ? 2 * rate : rate)

/**
 * Who decides that the user's turn is over: the server by silence (`server_vad`) or by meaning (`semantic_vad`); null is
 * the client, by `audio-commit` and `response-create`.
 */
export type TurnDetection = Node & {
  /** A response begins at the end of the user's turn; absent means it does. */
  readonly respond?: boolean
  /** Speech of the user ends a running response; absent means it does. */
  readonly interrupt?: boolean
} & (
    | {
        readonly type: 'silence'
        /** Activation threshold, 0 to 1. */
        readonly threshold?: number
        /** Milliseconds of audio before the speech that belong to it. */
        readonly prefixMs?: number
        /** Milliseconds of silence that end a turn. */
        readonly silenceMs?: number
        /** Milliseconds without speech after which a response is made anyway. */
        readonly idleMs?: number
      }
    | { readonly type: 'semantic'; readonly eagerness?: string }
  )

export interface InputTranscription extends Node {
  readonly model?: string
  readonly language?: string
  readonly prompt?: string
}

/**
 * Settings of a session, or a change of them: an absent field stays as it is, null clears it. Objects below `input` and
 * `output` are merged field by field, anything deeper is replaced.
 */
export interface SessionSettings extends Node {
  readonly model?: string
  /** The session only transcribes; absent, it is a conversation. */
  readonly purpose?: 'transcription'
  readonly instructions?: string
  readonly modalities?: readonly Modality[]
  readonly tools?: readonly Tool[]
  readonly toolChoice?: ToolChoice
  readonly parallelToolCalls?: boolean
  /** Tokens of one response. */
  readonly maxTokens?: number | 'unlimited'
  readonly temperature?: number
  readonly reasoning?: Reasoning
  readonly input?: InputSettings
  readonly output?: OutputSettings
}

export interface InputSettings extends Node {
  readonly format?: AudioFormat
  /** Transcription of the user's speech; null for none. */
  readonly transcription?: InputTranscription | null
  readonly noiseReduction?: string | null
  readonly turnDetection?: TurnDetection | null
}

export interface OutputSettings extends Node {
  readonly format?: AudioFormat
  readonly voice?: string
  readonly speed?: number
}

/** Settings of one response; what is absent is as the session has it. */
export interface ResponseSettings extends SessionSettings {
  /** Whether the response becomes part of the conversation; absent means it does. */
  readonly detached?: true
  /** Items the response is made from, instead of the conversation. */
  readonly context?: readonly Item[]
  readonly metadata?: JsonObject
}

/**
 * One item of a conversation. A function call is an assistant's item of one tool-call part, its output a tool's item of
 * one tool-result part. Audio that is named but not repeated is a media part with empty data.
 */
export interface Item extends Node {
  /** Absent only in an `item-create` whose caller leaves the choice to the server. */
  readonly id?: string
  readonly role: Role
  readonly content: readonly Part[]
  readonly status?: ItemStatus
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'
