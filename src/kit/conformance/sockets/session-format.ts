import type { Headers } from '../format.ts'
import type { JsonObject } from '../json.ts'
import type { Rule, Violation } from '../rules.ts'
import type { SchemaException } from '../schema.ts'
import type { Closing, Frame } from './frame.ts'
import type { SessionAnswer, SessionRequest, SessionSettings } from './session-facts.ts'

/** Frames of both directions of one connection. */
export interface Frames {
  readonly client: readonly Frame[]
  readonly server: readonly Frame[]
  readonly closed?: Closing
}

/** One format of sessions: how a session is opened, what its frames mean, and its rules. */
export interface SessionFormat {
  readonly name: string
  /** Path of the socket below the base URL. */
  readonly path: (model: string) => string
  readonly headers: (key: string) => Headers
  /** Path below the base URL where client secrets are created, in formats that have them. */
  readonly secrets?: string
  /** Whether a path below the base URL opens a session. */
  readonly recognises: (path: string) => boolean
  /** Returns a frame of a script with the model, if the frame names it. */
  readonly addressed: (frame: JsonObject, model: string) => JsonObject
  /** Returns the kind of a frame. The other side's script waits for frames by kind. */
  readonly kind: (data: JsonObject | undefined) => string
  /** Kinds of frames that a server may leave out. */
  readonly optional: ReadonlySet<string>
  /** Returns the ids in a server's frame that its client may refer to, in the order of their creation. */
  readonly ids: (data: JsonObject) => readonly string[]
  /** Kind of frame that is answered at once, however often it arrives, and the kind of its answer. */
  readonly echo?: { readonly asked: string; readonly answered: string }
  /** The settings that a server's answers to updates state; absent if it states none. */
  readonly stated?: (frames: Frames) => SessionSettings | undefined
  readonly request: (frames: Frames) => SessionRequest
  readonly answer: (frames: Frames) => SessionAnswer
  /** Returns the violations of `stream` rules in the server's frames. */
  readonly grammar: (frames: Frames) => readonly Violation[]
  /** Returns the violations of `request` rules in the client's frames. */
  readonly lint: (frames: Frames, headers: Headers) => readonly Violation[]
  readonly rules: readonly Rule[]
  /** Published schemas of frames in `conformance/schemas/<file>.json`. */
  readonly schemas?: { readonly file: string; readonly client: string; readonly server: string }
  readonly exceptions: readonly SchemaException[]
}
