import type { IncomingMessage, ServerResponse } from 'node:http'
import { defined } from '../canonical/node.ts'
import type { ActionName, Gateway } from '../gateway/index.ts'
import { requestId } from '../store/usage/request-id.ts'
import { queryOf } from './address.ts'
import { idHeaders } from './handlers.ts'
import { HttpReply } from './reply.ts'

/** A route for one operation on stored data. */
interface StoredRoute {
  readonly method: 'get' | 'post' | 'delete'
  readonly path: string
  readonly action: ActionName
}

/**
 * Endpoints of stored responses, interactions and conversations (docs/wire/responses.md#endpoints,
 * docs/decisions/2026-11-28-stored-interactions.md).
 */
export const STORED_ROUTES: readonly StoredRoute[] = [
  { method: 'get', path: '/v1/responses/:id', action: 'get-response' },
  { method: 'delete', path: '/v1/responses/:id', action: 'delete-response' },
  { method: 'post', path: '/v1/responses/:id/cancel', action: 'cancel-response' },
  { method: 'get', path: '/v1/responses/:id/input_items', action: 'input-items' },
  ...['/v1beta/interactions/:id', '/v1/interactions/:id'].flatMap((path): readonly StoredRoute[] => [
    { method: 'get', path, action: 'get-interaction' },
    { method: 'delete', path, action: 'delete-interaction' },
    { method: 'post', path: `${path}/cancel`, action: 'cancel-interaction' },
  ]),
  { method: 'post', path: '/v1/conversations', action: 'create-conversation' },
  { method: 'get', path: '/v1/conversations/:id', action: 'get-conversation' },
  { method: 'post', path: '/v1/conversations/:id', action: 'update-conversation' },
  { method: 'delete', path: '/v1/conversations/:id', action: 'delete-conversation' },
  { method: 'get', path: '/v1/conversations/:id/items', action: 'list-items' },
  { method: 'post', path: '/v1/conversations/:id/items', action: 'add-items' },
  { method: 'get', path: '/v1/conversations/:id/items/:item', action: 'get-item' },
  { method: 'delete', path: '/v1/conversations/:id/items/:item', action: 'delete-item' },
]

/** The `allow` header of each path. */
export const STORED_METHODS: ReadonlyMap<string, string> = new Map(
  STORED_ROUTES.map(({ path }) => [
    path,
    STORED_ROUTES.filter(route => route.path === path)
      .map(({ method }) => (method === 'get' ? 'GET, HEAD' : method.toUpperCase()))
      .join(', '),
  ]),
)

/** Handles a request to one of these routes. Always answers. */
export function handleStored(
  gateway: Gateway,
  action: ActionName,
  message: IncomingMessage & { readonly params: { readonly [name: string]: string | string[] | undefined } },
  response: ServerResponse,
): void {
  const id = requestId()
  const { query, queryKey } = queryOf(message)
  const { id: recordId = '', item = '' } = message.params
  const reply = new HttpReply(message, response, idHeaders(id), gateway.services)
  gateway.lookups
    .answerStored({
      id,
      action,
      message,
      reply,
      parameters: { id: String(recordId), item: String(item), query },
      ...defined({ queryKey }),
    })
    .catch(() => response.destroy())
}
