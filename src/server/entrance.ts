import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { defined } from '../canonical/defined.ts'
import type { Call, Gateway, ModelShape } from '../gateway.ts'
import { sendLast } from './connection.ts'
import { type Door, formatOfPath, wireAt } from './doors.ts'
import { familyOf, pathOf, type Query, queryOf } from './line.ts'
import { HttpReply } from './reply.ts'
import { requestId } from './request-id.ts'

/** A request at a door; `streams` says that the path itself asks for a stream. */
export function enter(
  gateway: Gateway,
  { door, streams }: { readonly door: Door; readonly streams: boolean },
  message: IncomingMessage,
  response: ServerResponse,
): void {
  const id = requestId()
  const { query, queryKey } = queryOf(message)
  const call: Call = {
    id,
    format: door.format,
    path: door.path,
    message,
    ...(queryKey === undefined ? {} : { queryKey }),
    wire: (body, files) => wireAt(door, { headers: message.headers, query: ownQuery(query, streams) }, body, files),
    ...(door.form === undefined ? {} : { form: { only: door.form === 'only', needs: 'model' } }),
    framing: streams && query['alt'] !== 'sse' ? 'array' : 'events',
    ...(door.heartbeat === undefined ? {} : { heartbeat: door.heartbeat }),
    reply: new HttpReply(message, response, idHeaders(id), gateway),
  }
  gateway.handle(call).catch(() => response.destroy())
}

/** How a stream is framed is between this door and its caller: below it, streams are always events (FORMATS §1). */
function ownQuery(query: Query, streams: boolean): Query {
  if (!streams && query['alt'] === undefined) return query
  const { alt: _, ...rest } = query
  return streams ? { ...rest, alt: 'sse' } : rest
}

/** The models a key can call, or a page of them, or the one of that id. Throws what `Gateway.models` throws. */
export function list(
  gateway: Gateway,
  shape: ModelShape,
  message: IncomingMessage,
  response: ServerResponse,
  id: string | undefined,
): void {
  const { query, queryKey } = queryOf(message)
  const reply = new HttpReply(message, response, idHeaders(requestId()), gateway)
  reply.whole(200, {}, gateway.models({ message, reply, ...defined({ queryKey }) }, shape, query, id))
}

/** A request that met no door, or was turned away at one that is not a format's. */
export function refuse(
  gateway: Gateway,
  thrown: unknown,
  message: IncomingMessage,
  response: ServerResponse,
  more: { readonly [name: string]: string } = {},
): void {
  const id = requestId()
  const path = pathOf(message)
  const format = /^\/v1\/models($|\/[^:]*$)/.test(path) ? familyOf(message) : formatOfPath(path)
  const { status, headers, text } = gateway.error(format, thrown, id)
  new HttpReply(message, response, idHeaders(id), gateway).whole(status, { ...more, ...headers }, text)
}

/** The same where no answer was made for it, as the connection ends with it. */
export function refuseLast(
  gateway: Gateway,
  thrown: unknown,
  socket: Duplex,
  path = '/',
  more: { readonly [name: string]: string } = {},
): void {
  const id = requestId()
  const { headers, ...answer } = gateway.error(formatOfPath(path), thrown, id)
  sendLast(socket, { ...answer, headers: { ...idHeaders(id), ...more, ...headers } })
}

/** A word of the gateway itself. */
export const say = (gateway: Gateway, response: ServerResponse, status: number, word: string, more?: object): void =>
  new HttpReply(response.req, response, {}, gateway).whole(status, {}, JSON.stringify({ status: word, ...more }))

/** Each family's clients look for the id under their own name (FORMATS §1). */
export const idHeaders = (id: string) => ({ 'x-request-id': id, 'request-id': id })
