import { GatewayError } from '../canonical/error.ts'
import { type Listed, UnorderedList } from '../canonical/unordered-list.ts'
import type { Call } from './call.ts'

/** A request that is being answered. */
export type RunningCall = Pick<Call, 'id' | 'format' | 'framing' | 'reply'> & Listed

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

  /** Whether its worker is still to answer it. */
  has(call: RunningCall): boolean {
    return this.calls.has(call)
  }

  /** Ends them all: a worker writes the error itself, and requests without one are refused here. */
  stop(refuse: (call: RunningCall, why: GatewayError) => void): void {
    this.stopped = STOPPED
    this.calls.forEach(call => {
      const { worker, begun } = call.reply
      if (worker !== undefined) worker.abort(STOPPED)
      else if (!begun) {
        this.calls.remove(call)
        refuse(call, STOPPED)
      }
    })
  }
}

const STOPPED = new GatewayError({
  kind: 'overloaded',
  message: 'The gateway is being stopped. Ask again.',
  retryAfterSeconds: 1,
})
