import type { Headers } from '../format.ts'
import type { JsonObject } from '../json.ts'
import type { Rule, Violation } from '../rules.ts'
import type { SchemaException } from '../schema.ts'
import type { Closing, Frame } from './frame.ts'
import type { SessionAnswer, SessionRequest, SessionSettings } from './session-facts.ts'

/** Frames that were sent in each direction of one connection. */
export interface Frames {
  readonly client: readonly Frame[]
  readonly server: readonly Frame[]
  readonly closed?: Closing
}

/** A session format: how to open a session, what its frames mean, and its rules. */
export interface SessionFormat {
  readonly name: string
  /** Path of the socket below the base URL. */
  readonly path: (model: string) => string
  readonly headers: (key: string) => Headers
  /** Path below the base URL that creates client secrets, in formats that have them. */
  readonly secrets?: string
  /** Returns true if a path below the base URL opens a session. */
  readonly recognises: (path: string) => boolean
  /** Adds the model to a frame of a script, if the frame states it. */
  readonly withModel: (frame: JsonObject, model: string) => JsonObject
  /** Returns the kind of a frame. Scripts wait for frames of the other side by kind. */
  readonly kind: (data: JsonObject | undefined) => string
  /** Kinds of frames that a server may omit. */
  readonly optional: ReadonlySet<string>
  /** Returns the ids in a server's frame that the client may use, in the order of their creation. */
  readonly ids: (data: JsonObject) => readonly string[]
  /** Kind of a frame that the other side always answers at once, and the kind of the reply. */
  readonly echo?: { readonly request: string; readonly reply: string }
  /** Reads the settings that a server reports in its answers to updates. Absent in formats without such reports. */
  readonly reportedSettings?: (frames: Frames) => SessionSettings | undefined
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
