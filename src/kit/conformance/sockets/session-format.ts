import type { Headers } from '../format.ts'
import type { JsonObject } from '../json.ts'
import type { Rule, Violation } from '../rules.ts'
import type { SchemaException } from '../schema.ts'
import type { Closing, Frame } from './frame.ts'
import type { SessionAnswer, SessionRequest, SessionSettings } from './session-facts.ts'

/** Both directions of one connection. */
export interface Frames {
  readonly client: readonly Frame[]
  readonly server: readonly Frame[]
  readonly closed?: Closing
}

/** One format of sessions: how it is opened, what its frames mean and which rules it has. */
export interface SessionFormat {
  readonly name: string
  /** The path of the socket below the base address. */
  readonly path: (model: string) => string
  readonly headers: (key: string) => Headers
  /** Whether a path below the base address opens a session. */
  readonly recognises: (path: string) => boolean
  /** A frame of a script with the model, if the frame names it. */
  readonly addressed: (frame: JsonObject, model: string) => JsonObject
  /** The kind of a frame, by which the other side's script waits for it. */
  readonly kind: (data: JsonObject | undefined) => string
  /** Kinds of frames that a server may leave out. */
  readonly optional: ReadonlySet<string>
  /** The ids in a server's frame that its client may refer to, in the order of their creation. */
  readonly ids: (data: JsonObject) => readonly string[]
  /** The kind of frame that is answered at once, however often it comes, and the kind of its answer. */
  readonly echo?: { readonly asked: string; readonly answered: string }
  /** The settings that a server's answers to updates state; absent if it states none. */
  readonly stated?: (frames: Frames) => SessionSettings | undefined
  readonly request: (frames: Frames) => SessionRequest
  readonly answer: (frames: Frames) => SessionAnswer
  /** The server's frames that break rules on `stream`. */
  readonly grammar: (frames: Frames) => readonly Violation[]
  /** The client's frames that break rules on `request`. */
  readonly lint: (frames: Frames, headers: Headers) => readonly Violation[]
  readonly rules: readonly Rule[]
  /** Published schemas of frames in `conformance/schemas/<file>.json`. */
  readonly schemas?: { readonly file: string; readonly client: string; readonly server: string }
  readonly exceptions: readonly SchemaException[]
}
