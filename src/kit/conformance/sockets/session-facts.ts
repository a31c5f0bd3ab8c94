import { createHash } from 'node:crypto'
import type { UsageFacts } from '../facts.ts'
import { compact, type Json } from '../json.ts'

/* The meaning of a session, in no format's words. */

/** Audio: the digest of its samples' bytes, and its length. */
export interface AudioFacts {
  readonly digest?: string
  /** Milliseconds, in steps of ten, because a converter of audio holds samples back. */
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
  readonly turnDetection?: { readonly [name: string]: Json }
  readonly limit?: Json
  readonly temperature?: number
  readonly toolChoice?: string
  readonly tools?: { readonly [name: string]: { readonly description?: string; readonly parameters?: Json } }
}

/** An item that the client added to the conversation. */
export interface SessionItem {
  readonly role: string
  readonly text?: string
  readonly result?: { readonly answers?: string; readonly text?: string }
}

export interface SessionRequest {
  readonly settings?: SessionSettings
  readonly items?: readonly SessionItem[]
  /** All audio that was sent. */
  readonly audio?: AudioFacts
  /** Commits of the audio buffer. */
  readonly commits?: number
  /** Requests for a response, and what they override. */
  readonly asks?: readonly { readonly asked: true; readonly instructions?: string }[]
  readonly cancels?: number
  /** Milliseconds at which spoken answers were cut. */
  readonly truncations?: readonly number[]
}

export interface ResponseFacts {
  readonly finish?: string
  readonly text?: string
  readonly transcript?: string
  readonly audio?: AudioFacts
  readonly calls?: readonly SessionCall[]
  readonly usage?: UsageFacts
}

export interface SessionAnswer {
  readonly responses?: readonly ResponseFacts[]
  /** Transcripts of what the user said. */
  readonly heard?: readonly string[]
  /** Whether speech began and ended, in the order of the events. */
  readonly speech?: string
  readonly truncated?: readonly number[]
  readonly errors?: readonly { readonly type?: string; readonly code?: string; readonly message?: string }[]
  /** The close frame of a session that the server ended. */
  readonly close?: { readonly code: number; readonly reason?: string }
}

/** Bytes of one millisecond, by audio format. */
const BYTES: { readonly [format: string]: number } = { 'pcm@16000': 32, 'pcm@24000': 48, pcmu: 8, pcma: 8 }

/** Facts of audio that came in pieces of base64. */
export function audioOf(pieces: readonly string[], format: string): AudioFacts | undefined {
  if (pieces.length === 0) return undefined
  const bytes = Buffer.concat(pieces.map(piece => Buffer.from(piece, 'base64')))
  const rate = BYTES[format]
  return compact({
    digest: createHash('sha256').update(bytes).digest('hex'),
    length: rate === undefined ? undefined : Math.round(bytes.length / rate / 10) * 10,
  })
}
