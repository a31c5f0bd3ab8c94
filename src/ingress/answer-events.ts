import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalEvent, ResultStart } from '../canonical/event.ts'
import { type JsonObject, parseObject } from '../canonical/node.ts'
import { NOTHING, type Transducer } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { CUT_SHORT, MALFORMED } from './errors/faulty-answer.ts'
import { readInnerError } from './errors/openai-error.ts'

export const DONE = '[DONE]'

/**
 * A streamed answer of a format of OpenAI's family, up to its end or the first fault: the data of each event is an
 * object, which may be an error (traps 75, 77), and `[DONE]` ends the stream.
 */
export abstract class AnswerEvents implements Transducer<WireEvent, CanonicalEvent> {
  protected out: CanonicalEvent[] = []
  protected started = false
  protected ended = false

  push({ data }: WireEvent): readonly CanonicalEvent[] {
    if (this.ended) return NOTHING
    this.out = []
    if (data === DONE) this.finish({})
    else this.take(parseObject(data))
    return this.out
  }

  end(): readonly CanonicalEvent[] {
    if (this.ended) return NOTHING
    this.out = []
    if (this.isWhole) this.finish({})
    else this.fail(CUT_SHORT)
    return this.out
  }

  private take(wire: JsonObject | undefined): void {
    const error = wire === undefined ? MALFORMED : this.errorIn(wire)
    if (error === undefined) this.read(wire!)
    else this.fail(error)
  }

  /** The error that an event is; undefined for any other event. */
  protected errorIn(wire: JsonObject): CanonicalError | undefined {
    return wire['error'] == null ? undefined : readInnerError(wire)
  }

  /** Puts out the start of the answer, whose head the event has, unless it was. */
  protected start(wire: JsonObject): void {
    if (this.started) return
    this.started = true
    this.out.push({ type: 'result-start', ...this.headIn(wire) })
  }

  protected fail(error: CanonicalError): void {
    this.start({})
    this.out.push({ type: 'error', error })
    this.ended = true
  }

  /** Whether the stream may end without `[DONE]`. */
  protected abstract readonly isWhole: boolean
  protected abstract headIn(wire: JsonObject): Omit<ResultStart, 'type'>
  /** Reads an event that is no error. */
  protected abstract read(wire: JsonObject): void
  /** Ends the answer; `wire` is the last event, where that has a type of its own. */
  protected abstract finish(wire: JsonObject): void
}
