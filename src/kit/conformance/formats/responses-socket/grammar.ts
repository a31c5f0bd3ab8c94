import type { Ending, Grammar } from '../../grammar.ts'
import { isObject, type Json, textOf } from '../../json.ts'
import type { Violation } from '../../rules.ts'
import type { SseEvent } from '../../sse.ts'
import { grammar as streamGrammar } from '../responses/grammar.ts'

/** The order of the events of one answer is that over HTTP. */
class FrameGrammar implements Grammar {
  private readonly stream: Grammar = streamGrammar()
  private readonly violations: Violation[] = []

  event(event: SseEvent, data: Json | undefined): void {
    // A frame has no name beside its type.
    if (isObject(data)) this.stream.event({ ...event, name: textOf(data['type']) }, data)
    else this.violations.push({ rule: 'frame', detail: event.data.slice(0, 100) })
  }

  get ending(): Ending | undefined {
    return this.stream.ending
  }

  end(isComplete: boolean): readonly Violation[] {
    return [...this.violations.slice(0, MOST), ...this.stream.end(isComplete)]
  }
}

/** Maximum number of reported frames that are no events. */
const MOST = 5

export const grammar = (): Grammar => new FrameGrammar()
