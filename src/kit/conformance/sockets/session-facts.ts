import { createHash } from 'node:crypto'
import type { UsageFacts } from '../facts.ts'
import { compact, isObject, type Json, objectOf } from '../json.ts'
import { BASE64 } from '../media/base64.ts'

/* The meaning of a session, independent of the format. */

/** Audio: the digest and duration of its samples. */
export interface AudioFacts {
  readonly digest?: string
  /** Duration in milliseconds, rounded to tens because an audio converter withholds samples. */
  readonly length?: number
}

export interface SessionCall {
  readonly name?: string
  readonly arguments?: Json
  readonly id?: string
}

export interface SessionSettings {
  readonly instructions?: string
  readonly modalities?: string
  readonly voice?: string
  readonly speed?: number
  readonly inputFormat?: string
  readonly outputFormat?: string
  readonly transcription?: { readonly model?: string; readonly language?: string }
  /** Sides whose speech a session of Google transcribes: `input`, `output`. Compared within one format. */
  readonly transcripts?: string
  readonly turnDetection?: { readonly [name: string]: Json }
  readonly limit?: Json
  readonly temperature?: number
  readonly toolChoice?: string
  readonly tools?: { readonly [name: string]: { readonly description?: string; readonly parameters?: Json } }
}

/** Returns the schema of a function's arguments, or undefined for a function without arguments. */
export const argumentsSchema = (schema: Json | undefined): Json | undefined =>
  isObject(schema) && schema['type'] === 'object' && Object.keys(objectOf(schema['properties'])).length === 0
    ? undefined
    : schema

/** An item that the client added to the conversation. */
export interface SessionItem {
  readonly role: string
  readonly text?: string
  readonly result?: { readonly answers?: string; readonly text?: string }
}

export interface SessionRequest {
  readonly settings?: SessionSettings
  readonly items?: readonly SessionItem[]
  /** All audio that the client sent. */
  readonly audio?: AudioFacts
  /** Number of times that the client committed the audio buffer. */
  readonly commits?: number
  /** Requests for a response, with overridden settings. */
  readonly asks?: readonly { readonly asked: true; readonly instructions?: string }[]
  readonly cancels?: number
  /** Number of items that the client deleted from the conversation. */
  readonly deletions?: number
  /** Positions at which the client truncated spoken answers, in milliseconds. */
  readonly truncations?: readonly number[]
  /** Kinds of the client's events in their order, without settings and repetitions. Compared within one format. */
  readonly sequence?: string
}

export interface ResponseFacts {
  readonly finish?: string
  readonly text?: string
  readonly transcript?: string
  readonly audio?: AudioFacts
  readonly calls?: readonly SessionCall[]
  readonly usage?: UsageFacts
  /** Error of a failed response. */
  readonly failure?: { readonly type?: string; readonly code?: string; readonly message?: string }
}

export interface SessionAnswer {
  readonly responses?: readonly ResponseFacts[]
  /** Transcripts of the user's speech. */
  readonly heard?: readonly string[]
  /** Speech starts and ends, in the order of their events. */
  readonly speech?: string
  readonly truncated?: readonly number[]
  readonly errors?: readonly { readonly type?: string; readonly code?: string; readonly message?: string }[]
  /** Close frame, if the server ended the session. */
  readonly close?: { readonly code: number; readonly reason?: string }
}

/** Number of bytes per millisecond, by audio format. */
const BYTES_PER_MS: { readonly [format: string]: number } = { 'pcm@16000': 32, 'pcm@24000': 48, pcmu: 8, pcma: 8 }

/** Returns the facts of audio that arrived as base64 chunks. */
export function audioOf(pieces: readonly string[], format: string): AudioFacts | undefined {
  if (pieces.length === 0) return undefined
  const bytes = Buffer.concat(pieces.map(piece => Buffer.from(piece, 'base64')))
  const rate = BYTES_PER_MS[format]
  const damaged = pieces.find(piece => piece.length % 4 !== 0 || !BASE64.test(piece))
  return compact({
    digest:
      damaged === undefined
        ? createHash('sha256').update(bytes).digest('hex')
        : `no base64: ${damaged.slice(0, 20)}… with ${damaged.length} characters`,
    length: rate === undefined ? undefined : Math.round(bytes.length / rate / 10) * 10,
  })
}
