import type { Caller } from '../accounts/index.ts'
import { type GatewayError, overloaded } from '../canonical/error.ts'
import { type ListItem, UnorderedList } from '../canonical/lists.ts'
import type { Call } from './call.ts'

/** A request that is being answered. */
export type RunningCall = Pick<Call, 'id' | 'format' | 'framing' | 'reply'> &
  Partial<Pick<Call, 'route'>> &
  ListItem & {
    /** Caller, once it is authenticated. */
    caller?: Caller
    /** Error with which the gateway ended this request alone. The request is sent to no further upstream. */
    endError?: GatewayError
  }

/**
 * The requests in progress. Ends them at shutdown or when their key is revoked, each with an error in its caller's
 * format.
 */
export class Running {
  /**
   * Error with which all requests were ended, or undefined while the gateway runs. Once it is set, no request is sent
   * to an upstream.
   */
  stopError: GatewayError | undefined
  private readonly calls = new UnorderedList<RunningCall>()

  add(call: RunningCall): void {
    this.calls.add(call)
  }

  remove(call: RunningCall): void {
    this.calls.remove(call)
  }

  /** Numbers of requests whose answer has not started yet, and whose answer is being sent. */
  get counts(): { readonly waiting: number; readonly streaming: number } {
    let streaming = 0
    this.calls.forEach(({ reply }) => {
      if (reply.started) streaming++
    })
    return { waiting: this.calls.size - streaming, streaming }
  }

  /** Returns true if the request is still in progress. */
  has(call: RunningCall): boolean {
    return this.calls.has(call)
  }

  /** Returns the error with which the gateway ended the request, or undefined if the gateway did not end it. */
  endOf(call: RunningCall): GatewayError | undefined {
    return this.stopError ?? call.endError
  }

  /** Ends the requests for which `reasonFor` returns an error, in the same way as `stop`. */
  end(reasonFor: (caller: Caller) => GatewayError | undefined, refuse: Refuse): void {
    this.calls.forEach(call => {
      const error = call.caller === undefined || call.endError !== undefined ? undefined : reasonFor(call.caller)
      if (error === undefined) return
      call.endError = error
      this.endOne(call, error, refuse)
    })
  }

  /** Ends all requests. Work on an answer writes the error itself. Requests without work in progress are refused. */
  stop(refuse: Refuse): void {
    this.stopError = STOPPED
    this.calls.forEach(call => {
      this.endOne(call, STOPPED, refuse)
    })
  }

  private endOne(call: RunningCall, error: GatewayError, refuse: Refuse): void {
    const { abortable, started } = call.reply
    if (abortable !== undefined) abortable.abort(error)
    else if (!started) {
      this.calls.remove(call)
      refuse(call, error)
    }
  }
}

/** Answers a request that has no work in progress. */
type Refuse = (call: RunningCall, error: GatewayError) => void

const STOPPED = overloaded('The gateway is shutting down. Retry the request.', 1)
