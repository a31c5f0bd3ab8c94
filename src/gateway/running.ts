import type { Caller } from '../accounts/index.ts'
import { type GatewayError, overloaded } from '../canonical/error.ts'
import { type Listed, UnorderedList } from '../canonical/lists.ts'
import type { Call } from './call.ts'

/** A request that is being answered. */
export type RunningCall = Pick<Call, 'id' | 'format' | 'framing' | 'reply'> &
  Listed & {
    /** Whose it is, once that is known. */
    caller?: Caller
    /** Why it alone was ended; it goes to no further upstream. */
    ended?: GatewayError
  }

/** The requests that are being answered, so that those which go on for too long can be ended in their callers' formats. */
export class Running {
  /** Why all of them were ended; no request is sent to an upstream then. */
  stopped: GatewayError | undefined
  private readonly calls = new UnorderedList<RunningCall>()

  add(call: RunningCall): void {
    this.calls.add(call)
  }

  remove(call: RunningCall): void {
    this.calls.remove(call)
  }

  /** How many of them wait for their answer's first byte, and how many were sent some of it. */
  get counts(): { readonly waiting: number; readonly streaming: number } {
    let streaming = 0
    this.calls.forEach(({ reply }) => {
      if (reply.begun) streaming++
    })
    return { waiting: this.calls.size - streaming, streaming }
  }

  /** Whether what works on it is still to answer it. */
  has(call: RunningCall): boolean {
    return this.calls.has(call)
  }

  /** Why the request was ended here, if it was. */
  endOf(call: RunningCall): GatewayError | undefined {
    return this.stopped ?? call.ended
  }

  /** Ends those for which there is a reason, as `stop` does. */
  end(reasonFor: (caller: Caller) => GatewayError | undefined, refuse: Refuse): void {
    this.calls.forEach(call => {
      const why = call.caller === undefined || call.ended !== undefined ? undefined : reasonFor(call.caller)
      if (why === undefined) return
      call.ended = why
      this.endOne(call, why, refuse)
    })
  }

  /** Ends them all: what works on one writes the error itself, and requests without such are refused here. */
  stop(refuse: Refuse): void {
    this.stopped = STOPPED
    this.calls.forEach(call => {
      this.endOne(call, STOPPED, refuse)
    })
  }

  private endOne(call: RunningCall, why: GatewayError, refuse: Refuse): void {
    const { abortable, begun } = call.reply
    if (abortable !== undefined) abortable.abort(why)
    else if (!begun) {
      this.calls.remove(call)
      refuse(call, why)
    }
  }
}

/** Answers a request that nothing works on. */
type Refuse = (call: RunningCall, why: GatewayError) => void

const STOPPED = overloaded('The gateway is shutting down. Retry the request.', 1)
