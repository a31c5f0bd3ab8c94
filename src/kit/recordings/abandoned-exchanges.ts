import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'

/** Maximum time for the rest of an answer whose caller has left, in milliseconds. */
const MAX_REST_MS = 60_000

/** Waits until a request and its answer are closed. */
const closed = (request: ClientRequest): Promise<void> => new Promise(resolve => request.once('close', () => resolve()))

/**
 * Answers whose callers left before the end. They are read to their end, because a recording of a part would break off
 * for every later caller. Many clients close the connection as soon as they have the last event.
 */
export class AbandonedExchanges {
  private readonly requests = new Set<ClientRequest>()
  private isClosed = false

  /** Reads the rest of an answer without its caller. */
  readRest(request: ClientRequest, answer: IncomingMessage, reply: ServerResponse): void {
    if (this.isClosed || request.destroyed || request.closed || answer.destroyed) return void request.destroy()
    const timer = setTimeout(() => request.destroy(), MAX_REST_MS).unref()
    this.requests.add(request)
    request.once('close', () => {
      clearTimeout(timer)
      this.requests.delete(request)
    })
    answer.unpipe(reply)
    answer.resume()
  }

  /** Ends all answers. Those of callers that leave later are ended at once. */
  async close(): Promise<void> {
    this.isClosed = true
    await Promise.all([...this.requests].map(request => closed(request.destroy())))
  }
}
