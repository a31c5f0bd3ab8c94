import express, { type NextFunction, type Request, type Response, type Router } from 'express'
import type { Gateway } from '../gateway/index.ts'
import { Administration } from '../operators/admin/administration.ts'
import {
  type AdminAnswer,
  AdminApi,
  ENDPOINTS,
  type Endpoint,
  type LiveAnswer,
  SESSION_ROUTES,
  unknownPath,
  wrongMethod,
} from '../operators/admin/index.ts'
import { requestId } from '../store/usage/request-id.ts'
import { callerRequests } from './caller-requests.ts'
import { idHeaders } from './handlers.ts'
import { HttpReply } from './reply.ts'

const VERSION = '/v1'
const DESCRIPTION = '/openapi.json'
const DESCRIBED = { method: 'get', path: DESCRIPTION } as const
/** The key in `response.locals` under which the authenticated principal is stored. */
const PRINCIPAL = 'principal'

/**
 * Creates the routes of the admin API, mounted at `/admin`. All routes require authentication, except the routes of
 * sign-in sessions.
 */
export function adminRoutes(gateway: Gateway): Router {
  const administration = new Administration(gateway)
  administration.callerRequests = callerRequests(gateway)
  const api = new AdminApi(administration, ENDPOINTS)
  const router = express.Router({ caseSensitive: true })

  /** Wraps work as an express handler. The handler sends the result or, if the work throws, an error. */
  const answering =
    (
      work: (message: Request, response: Response) => AdminAnswer | Promise<AdminAnswer | LiveAnswer>,
      extraHeaders: { readonly [name: string]: string } = {},
    ) =>
    async (message: Request, response: Response): Promise<void> => {
      const id = requestId()
      const reply = new HttpReply(message, response, idHeaders(id), gateway.services)
      const refused = (thrown: unknown): AdminAnswer => api.refusal(thrown, id, extraHeaders)
      const found = await Promise.try(work, message, response).catch(refused)
      const answer = typeof found === 'function' ? await found({ id, message, reply }).catch(refused) : found
      // The answer has already been streamed.
      if (answer === undefined) return
      if (answer.cookies !== undefined && !reply.gone) response.setHeader('set-cookie', answer.cookies)
      if (!reply.gone) reply.whole(answer.status, answer.headers, answer.text)
    }
  const refusing = (thrown: unknown, extraHeaders?: { readonly [name: string]: string }) =>
    answering(() => Promise.reject(thrown), extraHeaders)

  for (const route of SESSION_ROUTES)
    router[route.method](
      VERSION + route.path,
      answering(message => api.session(route, message, queryOf(message))),
    )
  for (const [path, allow] of methodsOf(SESSION_ROUTES)) router.all(path, refusing(wrongMethod(allow), { allow }))
  router.use((message: Request, response: Response, next: NextFunction) =>
    api.authenticate(message).then(
      principal => {
        response.locals[PRINCIPAL] = principal
        next()
      },
      thrown => refusing(thrown)(message, response),
    ),
  )
  router.get(
    VERSION + DESCRIPTION,
    answering(() => api.openapi),
  )
  for (const endpoint of ENDPOINTS)
    router[endpoint.method](
      routeOf(endpoint.path),
      answering((message, response) =>
        api.answer(
          endpoint,
          { message, params: message.params as never, query: queryOf(message) },
          response.locals[PRINCIPAL],
        ),
      ),
    )
  for (const [path, allow] of methodsOf([DESCRIBED, ...ENDPOINTS])) {
    router.options(
      path,
      answering(() => ({ status: 204, headers: { allow }, text: '' })),
    )
    router.all(path, refusing(wrongMethod(allow), { allow }))
  }
  router.use(refusing(unknownPath()))
  router.use((thrown: unknown, message: Request, response: Response, _next: NextFunction) =>
    refusing(thrown)(message, response),
  )
  return router
}

/** Converts a path such as `/keys/{id}` to express syntax. */
const routeOf = (path: string): string => VERSION + path.replaceAll(/\{(\w+)\}/g, ':$1')

/** Returns the `allow` header of each path. */
function methodsOf(endpoints: readonly Pick<Endpoint, 'method' | 'path'>[]): ReadonlyMap<string, string> {
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of endpoints) {
    const known = methods.get(routeOf(path)) ?? new Set(['OPTIONS'])
    methods.set(routeOf(path), known.add(method.toUpperCase()))
    if (method === 'get') known.add('HEAD')
  }
  return new Map([...methods].map(([path, all]) => [path, [...all].sort().join(', ')]))
}

const queryOf = ({ url }: Request): string => url.slice(url.indexOf('?') + 1 || url.length)
