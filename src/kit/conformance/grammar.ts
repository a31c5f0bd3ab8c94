import type { Json, JsonObject } from './json.ts'
import type { Violation } from './rules.ts'
import type { SseEvent } from './sse.ts'

/** The end of a stream as its events tell it. */
export type Ending = 'normal' | 'error'

/** A state machine over one stream: it is fed every event and asked for its violations after the end. */
export interface Grammar {
  event(event: SseEvent, data: Json | undefined): void
  /** @param isComplete whether the body ended as its framing says; what was cut off cannot have its last events. */
  end(isComplete: boolean): readonly Violation[]
  /** The end that the events told: the normal one of the format, an error, or none. */
  readonly ending?: Ending | undefined
}

/** The facts about the request that a stream grammar may use. */
export interface Asked {
  readonly body: JsonObject
}

export type GrammarFactory = (asked: Asked) => Grammar
