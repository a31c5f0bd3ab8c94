import type { Ending, Grammar } from '../../grammar.ts'
import { isObject, type Json, textOf } from '../../json.ts'
import type { Violation } from '../../rules.ts'
import type { SseEvent } from '../../sse.ts'
import { grammar as streamGrammar } from '../responses/grammar.ts'

/** Checks the order of events in one answer. The order is the same as over HTTP. */
class FrameGrammar implements Grammar {
  private readonly stream: Grammar = streamGrammar()
  private readonly violations: Violation[] = []

  event(event: SseEvent, data: Json | undefined): void {
    // The name of a frame is the type of its event.
    if (isObject(data)) this.stream.event({ ...event, name: textOf(data['type']) }, data)
    else this.violations.push({ rule: 'frame', detail: event.data.slice(0, 100) })
  }

  get ending(): Ending | undefined {
    return this.stream.ending
  }

  end(isComplete: boolean): readonly Violation[] {
    return [...this.violations.slice(0, MAX_REPORTED), ...this.stream.end(isComplete)]
  }
}

/** Maximum number of frames to report that are not events. */
const MAX_REPORTED = 5

export const grammar = (): Grammar => new FrameGrammar()
