import type { Json, JsonObject } from './json.ts'
import type { Violation } from './rules.ts'
import type { SseEvent } from './sse.ts'

/** The end of a stream, as its events state it. */
export type Ending = 'normal' | 'error'

/** A state machine over one stream. Receives every event and finally returns the violations. */
export interface Grammar {
  event(event: SseEvent, data: Json | undefined): void
  /**
   * @param isComplete true if the body ended as its framing requires. A truncated body may lack the last events.
   */
  end(isComplete: boolean): readonly Violation[]
  /** The end of the stream according to its events, or undefined if they do not end it. */
  readonly ending?: Ending | undefined
}

/** Facts about the request that the checks of its stream need. */
export interface StreamRequest {
  readonly body: JsonObject
}

export type GrammarFactory = (request: StreamRequest) => Grammar
