import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { defined } from '../canonical/node.ts'
import type { Call, Gateway, OwnRequest, OwnRequests } from '../gateway/index.ts'
import { requestId } from '../usage/request-id.ts'
import { BY_PATH, callAt, contentsRoute, type Door, namesMethod } from './routes.ts'

/** Sends requests of administrators through the endpoints, as if the callers in whose names they are had. */
export const ownRequests = (gateway: Gateway): OwnRequests => ({
  send(request, reply) {
    const call: Call = { ...callOf(request), reply }
    return { id: call.id, over: gateway.handle(call) }
  },
})

/** Throws GatewayError `not-found` where no endpoint has the path. */
const callOf = ({ path, query, headers, body, as, repeats }: OwnRequest): Omit<Call, 'reply'> => ({
  ...callAt(doorAt(path), { headers, query }),
  ...{ id: requestId(), message: messageAt(path, query, headers), body, as, ...defined({ repeats }) },
})

function doorAt(path: string): Door {
  const route = BY_PATH.get(path)
  return route === undefined || namesMethod(path) ? contentsRoute(path) : { route, streams: false }
}

/** A message without a connection; its body is not read. */
function messageAt(path: string, query: OwnRequest['query'], headers: OwnRequest['headers']): IncomingMessage {
  const message = new IncomingMessage(new Socket())
  const search = String(new URLSearchParams(query))
  message.method = 'POST'
  message.url = search === '' ? path : `${path}?${search}`
  message.headers = { ...headers }
  message.complete = true
  return message
}
