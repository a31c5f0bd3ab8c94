import type { Json, JsonObject } from './json.ts'
import type { Violation } from './rules.ts'
import type { SseEvent } from './sse.ts'

/** How a stream's events say that the stream ends. */
export type Ending = 'normal' | 'error'

/** A state machine over one stream. Receives every event and finally returns the violations. */
export interface Grammar {
  event(event: SseEvent, data: Json | undefined): void
  /**
   * @param isComplete whether the body ended as its framing requires. The last events may be missing from a truncated
   * body.
   */
  end(isComplete: boolean): readonly Violation[]
  /** How the stream ended according to its events: normally or with an error. Undefined if neither. */
  readonly ending?: Ending | undefined
}

/** Facts about the request that the checks of its stream need. */
export interface Asked {
  readonly body: JsonObject
}

export type GrammarFactory = (asked: Asked) => Grammar
