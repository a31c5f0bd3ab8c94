import type { CanonicalError } from '../../../canonical/error.ts'
import type { JsonObject } from '../../../canonical/node.ts'
import type { Usage } from '../../../canonical/result.ts'

/** The name of this format in routing, `extras` and opaque parts. */
export const LIVE = 'live'

/** What audio in frames to the upstream is: 16-bit PCM at 16 kHz (FORMATS §14). */
export const AUDIO_TYPE = 'audio/pcm;rate=16000'

/** One turn, or a piece of one, as `clientContent` has it. */
export interface Content {
  readonly role: 'user' | 'model'
  readonly parts: readonly JsonObject[]
}

export interface FunctionResponse {
  /** Absent where the upstream gave its call none. */
  readonly id?: string
  readonly name: string
  readonly response: JsonObject
}

export interface FunctionCall {
  readonly id?: string
  readonly name: string
  /** JSON text. */
  readonly arguments: string
}

/** What a server frame can mean, one of the format's messages each; a frame may hold several. */
export type LiveMessage =
  /** `named`: it has an id for the session, as Google's cloud gives. */
  | { readonly type: 'setup-complete'; readonly named: boolean }
  | { readonly type: 'input-transcript'; readonly text: string; readonly finished: boolean }
  | { readonly type: 'output-transcript'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'audio'; readonly audio: Uint8Array }
  | { readonly type: 'interrupted' }
  | { readonly type: 'turn-complete'; readonly reason: string }
  | { readonly type: 'calls'; readonly calls: readonly FunctionCall[] }
  | { readonly type: 'calls-cancelled'; readonly ids: readonly string[] }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'activity'; readonly speaking: boolean }
  /** `handle` is absent where the session cannot be resumed at this point. */
  | { readonly type: 'resumption'; readonly handle?: string }
  /** Seconds until the connection is closed, where they are given. */
  | { readonly type: 'go-away'; readonly seconds?: number }
  | { readonly type: 'error'; readonly error: CanonicalError }
