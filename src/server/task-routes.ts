import type { IncomingMessage, ServerResponse } from 'node:http'
import { defined, type Format } from '../canonical/node.ts'
import { percentDecoded } from '../canonical/text.ts'
import { type MatchedRoute, type Route, vendorRoutes } from '../formats/routes.ts'
import { VENDOR_WORKS } from '../formats/rows/kling.ts'
import type { Gateway, TaskAction } from '../gateway/index.ts'
import { requestId } from '../store/usage/request-id.ts'
import { queryOf } from './address.ts'
import { idHeaders } from './handlers.ts'
import { HttpReply } from './reply.ts'

/** A route that reads or deletes video tasks. */
interface TaskRoute {
  readonly method: 'get' | 'delete'
  readonly path: string
  readonly format: Format
  readonly action: TaskAction
}

/**
 * Returns the endpoints for stored video tasks (docs/wire/videos.md#endpoints; docs/wire/videos.md#openai).
 *
 * @param vendor first path segment of the video vendor's endpoints.
 */
export const taskRoutes = (vendor: string): readonly TaskRoute[] => [
  { method: 'get', path: '/v1/videos', format: 'videos', action: 'list' },
  { method: 'get', path: '/v1/videos/:id', format: 'videos', action: 'retrieve' },
  { method: 'delete', path: '/v1/videos/:id', format: 'videos', action: 'remove' },
  { method: 'get', path: '/v1/videos/:id/content', format: 'videos', action: 'content' },
  { method: 'get', path: '/v1/video/generations/:id', format: 'generations', action: 'retrieve' },
  ...VENDOR_WORKS.map(
    (work): TaskRoute => ({
      ...{ method: 'get', path: `/${vendor}/v1/videos/${work}/:id`, format: 'kling', action: 'retrieve' },
    }),
  ),
]

/** Path pattern for requests that remix an existing video. */
export const REMIX_PATH = '/v1/videos/:id/remix'

/** Returns the route of a remix request. */
export const remixRoute = (id: string): Route => ({
  ...{ format: 'videos', path: '/v1/videos/{video_id}/remix', below: `/videos/${encodeURIComponent(id)}/remix` },
  ...{ mark: 'prompt', headers: [], form: 'too' },
})

/**
 * Returns the endpoint that submits tasks at a path, if it is not in `ROUTES`: a remix, or one of the video vendor's.
 *
 * @param vendor first path segment of the video vendor's endpoints.
 */
export function submitRoute(path: string, vendor: string): MatchedRoute | undefined {
  const remixed = /^\/v1\/videos\/([^/]+)\/remix$/.exec(path)?.[1]
  const route =
    remixed === undefined ? vendorRoutes(vendor).find(one => one.path === path) : remixRoute(percentDecoded(remixed))
  return route && { route, streams: false }
}

/** Returns the `allow` header of each path, including the methods that submit tasks. */
export function taskMethods(vendor: string): ReadonlyMap<string, string> {
  const methods = new Map<string, string[]>([[REMIX_PATH, ['POST']]])
  for (const { method, path } of taskRoutes(vendor)) {
    const methodNames = method === 'get' ? ['GET', 'HEAD'] : ['DELETE']
    methods.set(path, [...(methods.get(path) ?? []), ...methodNames])
  }
  methods.get('/v1/videos')!.push('POST')
  return new Map([...methods].map(([path, methodNames]) => [path, methodNames.join(', ')]))
}

/** Handles a request to one of these routes. Always answers. */
export function handleTask(
  gateway: Gateway,
  { format, action }: TaskRoute,
  message: IncomingMessage & { readonly params: { readonly [name: string]: string | string[] | undefined } },
  response: ServerResponse,
): void {
  const id = requestId()
  const { query, queryKey } = queryOf(message)
  const reply = new HttpReply(message, response, idHeaders(id), gateway.services)
  const task = String(message.params['id'] ?? '')
  gateway.lookups
    .answerTask({ id, format, action, message, reply, task, query, ...defined({ queryKey }) })
    .catch(() => response.destroy())
}
