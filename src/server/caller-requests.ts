import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { defined } from '../canonical/node.ts'
import { matchedRoute, modelRoute } from '../formats/routes.ts'
import { callAt } from '../gateway/call-at.ts'
import type { CallerRequest, CallerRequests, Gateway } from '../gateway/index.ts'
import { requestId } from '../store/usage/request-id.ts'
import { submitRoute } from './task-routes.ts'

/** Sends administrators' requests through the endpoints, as if the chosen caller had sent them. */
export const callerRequests = (gateway: Gateway): CallerRequests => ({
  send({ path, query, headers, body, as, repeats }, reply) {
    const message = messageAt(path, query, headers)
    const { vendorPath } = gateway.services.config.tasks
    const matched = matchedRoute(path) ?? submitRoute(path, vendorPath) ?? modelRoute(path)
    const call = { ...callAt(matched, requestId(), message, { query }, reply), body, as, ...defined({ repeats }) }
    return { id: call.id, over: gateway.handle(call) }
  },
})

/** Creates a message without a connection. Its body is never read. */
function messageAt(path: string, query: CallerRequest['query'], headers: CallerRequest['headers']): IncomingMessage {
  const message = new IncomingMessage(new Socket())
  const search = String(new URLSearchParams(query))
  message.method = 'POST'
  message.url = search === '' ? path : `${path}?${search}`
  message.headers = { ...headers }
  message.complete = true
  return message
}
