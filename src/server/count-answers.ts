import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Gateway } from '../gateway/index.ts'

type Handler<M> = (message: M, response: ServerResponse) => unknown

/** Status recorded if the caller disconnected before the answer was complete. */
const CLIENT_CLOSED_STATUS = 499

/**
 * Wraps an endpoint's handler to count its answers in metrics. Only for endpoints that write no usage rows. Returns the
 * handler's result, so that express sees rejected promises.
 *
 * @param path in express syntax, for example `/v1/responses/:id`.
 */
export function withAnswerCount<M extends IncomingMessage>(
  gateway: Gateway,
  path: string,
  handle: Handler<M>,
): Handler<M> {
  const pattern = path.replaceAll(/:(\w+)/g, '{$1}')
  return (message, response) => {
    response.once('close', () =>
      gateway.services.metrics.countAnswer(
        pattern,
        response.writableFinished ? response.statusCode : CLIENT_CLOSED_STATUS,
      ),
    )
    return handle(message, response)
  }
}
