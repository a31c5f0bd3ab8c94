import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { defined, type Format } from '../canonical/node.ts'
import { formatOfPath, type MatchedRoute } from '../formats/routes.ts'
import { callAt } from '../gateway/call-at.ts'
import type { Gateway } from '../gateway/index.ts'
import { requestId } from '../store/usage/request-id.ts'
import { familyOf, pathOf, queryOf } from './address.ts'
import { sendLast } from './connection.ts'
import { HttpReply } from './reply.ts'

/** Handles a request at a model endpoint. */
export function handleRequest(
  gateway: Gateway,
  matched: MatchedRoute,
  message: IncomingMessage,
  response: ServerResponse,
): void {
  const id = requestId()
  const { idHeader } = matched.route
  const headers = idHeader === undefined ? idHeaders(id) : { ...idHeaders(id), [idHeader]: id }
  const reply = new HttpReply(message, response, headers, gateway.services)
  gateway.handle(callAt(matched, id, message, queryOf(message), reply)).catch(() => response.destroy())
}

/** Answers with a page of the models that a key may call, or with the model that has the given id. */
export function listModels(
  gateway: Gateway,
  shape: Format,
  message: IncomingMessage,
  response: ServerResponse,
  id: string | undefined,
): void {
  const { query, queryKey } = queryOf(message)
  const answerId = requestId()
  const reply = new HttpReply(message, response, idHeaders(answerId), gateway.services)
  gateway.lookups
    .models({ message, reply, ...defined({ queryKey }) }, shape, query, id)
    .then(text => reply.gone || reply.whole(200, {}, text))
    .catch(async thrown => {
      const { status, headers, text } = gateway.services.errors.of(
        shape,
        await gateway.services.delayWrongKey(thrown, message),
        answerId,
      )
      if (!reply.gone) reply.whole(status, headers, text)
    })
}

/** Refuses a request to an unknown path or to an endpoint that does not belong to a model format. */
export function refuseRequest(
  gateway: Gateway,
  thrown: unknown,
  message: IncomingMessage,
  response: ServerResponse,
  extraHeaders: { readonly [name: string]: string } = {},
): void {
  const id = requestId()
  const path = pathOf(message)
  const format = /^\/v1\/models($|\/[^:]*$)/.test(path) ? familyOf(message) : formatOfPath(path)
  const { status, headers, text } = gateway.services.errors.of(format, thrown, id)
  new HttpReply(message, response, idHeaders(id), gateway.services).whole(status, { ...extraHeaders, ...headers }, text)
}

/** Refuses a request on a raw socket that has no response object, then closes the socket. */
export function refuseLast(
  gateway: Gateway,
  thrown: unknown,
  socket: Duplex,
  path = '/',
  extraHeaders: { readonly [name: string]: string } = {},
): void {
  const id = requestId()
  const { headers, ...answer } = gateway.services.errors.of(formatOfPath(path), thrown, id)
  sendLast(socket, { ...answer, headers: { ...idHeaders(id), ...extraHeaders, ...headers } }, gateway.services)
}

/** Answers with the gateway's status, such as `ready`. */
export const sendStatus = (
  gateway: Gateway,
  response: ServerResponse,
  status: number,
  name: string,
  extraHeaders?: object,
): void =>
  new HttpReply(response.req, response, {}, gateway.services).whole(
    status,
    {},
    JSON.stringify({ status: name, ...extraHeaders }),
  )

/** Headers with the request id. Each client family expects a different name (docs/wire/common.md#response-headers). */
export const idHeaders = (id: string) => ({ 'x-request-id': id, 'request-id': id })
