import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { defined } from '../canonical/defined.ts'
import type { Call, Gateway, OwnRequest, OwnRequests } from '../gateway/index.ts'
import { requestId } from './request-id.ts'
import { contentsRoute, namesMethod, ROUTES, type Route, wireAt } from './routes.ts'

const BY_PATH: ReadonlyMap<string, Route> = new Map(ROUTES.map(route => [route.path, route]))

/** Sends requests of administrators through the endpoints, as if the callers in whose names they are had. */
export const ownRequests = (gateway: Gateway): OwnRequests => ({
  send(request, reply) {
    const call: Call = { ...callOf(request), reply }
    return { id: call.id, over: gateway.handle(call) }
  },
})

/** Throws GatewayError `not-found` where no endpoint has the path. */
function callOf({ path, query, headers, body, as, repeats }: OwnRequest): Omit<Call, 'reply'> {
  const { route, streams } = routeAt(path)
  const ownQuery = streams ? { ...query, alt: 'sse' } : query
  return {
    ...{ id: requestId(), format: route.format, path: route.path, message: messageAt(path, query, headers), body, as },
    wire: (body, files) => wireAt(route, { headers, query: ownQuery }, body, files),
    framing: streams && query['alt'] !== 'sse' ? 'array' : 'events',
    ...defined({ heartbeat: route.heartbeat, repeats }),
  }
}

function routeAt(path: string): { readonly route: Route; readonly streams: boolean } {
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
