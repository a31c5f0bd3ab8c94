import type { CanonicalError } from '../canonical/error.ts'
import type { CanonicalEvent, ResultStart } from '../canonical/event.ts'
import { type JsonObject, parseObject } from '../canonical/node.ts'
import { NOTHING, type Transducer } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { CUT_SHORT, MALFORMED } from './errors/faulty-answer.ts'
import { readInnerError } from './errors/openai-error.ts'

/** Data of the event that ends a stream in OpenAI's family of formats. */
export const DONE = '[DONE]'

/**
 * Base class of readers for streamed answers in OpenAI's family of formats. The data of each event is a JSON object,
 * possibly an error (traps 75, 77), or blank (trap 115). The stream ends at `[DONE]` or at the first fault.
 */
export abstract class AnswerEvents implements Transducer<WireEvent, CanonicalEvent> {
  protected out: CanonicalEvent[] = []
  protected started = false
  protected ended = false

  push({ data }: WireEvent): readonly CanonicalEvent[] {
    if (this.ended) return NOTHING
    this.out = []
    if (data === DONE) this.finish({})
    else this.take(parseObject(data), data)
    return this.out
  }

  end(): readonly CanonicalEvent[] {
    if (this.ended) return NOTHING
    this.out = []
    if (this.isComplete) this.finish({})
    else this.fail(CUT_SHORT)
    return this.out
  }

  private take(wire: JsonObject | undefined, data: string): void {
    if (wire === undefined && data.trim() === '') return
    const error = wire === undefined ? MALFORMED : this.errorIn(wire)
    if (error === undefined) this.read(wire!)
    else this.fail(error)
  }

  /** Reads the error in an event. Returns undefined for any other event. */
  protected errorIn(wire: JsonObject): CanonicalError | undefined {
    return wire['error'] == null ? undefined : readInnerError(wire)
  }

  /** Emits `result-start` with the head found in `wire`, unless the answer has started already. */
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

  /** True if the stream may end without `[DONE]`. */
  protected abstract readonly isComplete: boolean
  protected abstract headIn(wire: JsonObject): Omit<ResultStart, 'type'>
  /** Reads an event that is not an error. */
  protected abstract read(wire: JsonObject): void
  /** Ends the answer. `wire` is the final event, or `{}` if the format has none. */
  protected abstract finish(wire: JsonObject): void
}
