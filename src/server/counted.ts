import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Gateway } from '../gateway/index.ts'

type Handler<M> = (message: M, response: ServerResponse) => unknown

/** Of a caller that did not wait for its answer. */
const CLIENT_CLOSED = 499

/**
 * The handler of an endpoint whose requests have no rows of usage, as they use none: their answers are counted.
 *
 * What the handler gives is passed on: express answers what a promise rejects with.
 *
 * @param path as express has it: `/v1/responses/:id`.
 */
export function counted<M extends IncomingMessage>(gateway: Gateway, path: string, handle: Handler<M>): Handler<M> {
  const door = path.replaceAll(/:(\w+)/g, '{$1}')
  return (message, response) => {
    response.once('close', () =>
      gateway.metrics.answered(door, response.writableFinished ? response.statusCode : CLIENT_CLOSED),
    )
    return handle(message, response)
  }
}
