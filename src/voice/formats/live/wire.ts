import type { CanonicalError } from '../../../canonical/error.ts'
import type { JsonObject } from '../../../canonical/node.ts'
import type { Usage } from '../../../canonical/result.ts'

/** The format's name in routing, `extras` and opaque parts. */
export const LIVE = 'live'

/** Media type of audio sent to the upstream: 16-bit PCM at 16 kHz (docs/wire/live.md#audio). */
export const AUDIO_TYPE = 'audio/pcm;rate=16000'

/** A turn in `clientContent`, or a part of one. */
export interface Content {
  readonly role: 'user' | 'model'
  readonly parts: readonly JsonObject[]
}

export interface FunctionResponse {
  /** Id of the call. Absent if the upstream's call has no id. */
  readonly id?: string
  readonly name: string
  readonly response: JsonObject
}

export interface FunctionCall {
  readonly id?: string
  readonly name: string
  /** The arguments object as JSON text. */
  readonly arguments: string
}

/** Messages that a server frame may contain. A frame may contain several. */
export type LiveMessage =
  /** `named` is true if the message has a session id, as on Google Cloud. */
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
  /** `handle` is absent while the session cannot be resumed. */
  | { readonly type: 'resumption'; readonly handle?: string }
  /** Announces that the connection will close. `seconds` is the remaining time, if known. */
  | { readonly type: 'go-away'; readonly seconds?: number }
  | { readonly type: 'error'; readonly error: CanonicalError }
