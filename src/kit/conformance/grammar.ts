import type { Json, JsonObject } from './json.ts'
import type { Violation } from './rules.ts'
import type { SseEvent } from './sse.ts'

/** The kind of end that a stream's events announced. */
export type Ending = 'normal' | 'error'

/** A state machine over one stream. It gets every event and, after the end, returns the violations. */
export interface Grammar {
  event(event: SseEvent, data: Json | undefined): void
  /** @param isComplete whether the body ended as its framing requires. A truncated body cannot have its last events. */
  end(isComplete: boolean): readonly Violation[]
  /** The end that the events announced: the format's normal end, an error, or none. */
  readonly ending?: Ending | undefined
}

/** Facts about the request that a stream grammar may use. */
export interface Asked {
  readonly body: JsonObject
}

export type GrammarFactory = (asked: Asked) => Grammar
