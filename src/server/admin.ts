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

const VERSION_PREFIX = '/v1'
const OPENAPI_PATH = '/openapi.json'
const OPENAPI_ROUTE = { method: 'get', path: OPENAPI_PATH } as const
/** The key in `response.locals` under which the authenticated principal is stored. */
const PRINCIPAL_KEY = 'principal'

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
  const handlerFor =
    (
      work: (message: Request, response: Response) => AdminAnswer | Promise<AdminAnswer | LiveAnswer>,
      extraHeaders: { readonly [name: string]: string } = {},
    ) =>
    async (message: Request, response: Response): Promise<void> => {
      const id = requestId()
      const reply = new HttpReply(message, response, idHeaders(id), gateway.services)
      const refusalAnswer = (thrown: unknown): AdminAnswer => api.refusal(thrown, id, extraHeaders)
      const outcome = await Promise.try(work, message, response).catch(refusalAnswer)
      const answer =
        typeof outcome === 'function' ? await outcome({ id, message, reply }).catch(refusalAnswer) : outcome
      // The answer has already been streamed.
      if (answer === undefined) return
      if (answer.cookies !== undefined && !reply.gone) response.setHeader('set-cookie', answer.cookies)
      if (!reply.gone) reply.whole(answer.status, answer.headers, answer.text)
    }
  const refusalHandler = (thrown: unknown, extraHeaders?: { readonly [name: string]: string }) =>
    handlerFor(() => Promise.reject(thrown), extraHeaders)

  for (const route of SESSION_ROUTES)
    router[route.method](
      VERSION_PREFIX + route.path,
      handlerFor(message => api.session(route, message, queryOf(message))),
    )
  for (const [path, allow] of methodsOf(SESSION_ROUTES)) router.all(path, refusalHandler(wrongMethod(allow), { allow }))
  router.use((message: Request, response: Response, next: NextFunction) =>
    api.authenticate(message).then(
      principal => {
        response.locals[PRINCIPAL_KEY] = principal
        next()
      },
      thrown => refusalHandler(thrown)(message, response),
    ),
  )
  router.get(
    VERSION_PREFIX + OPENAPI_PATH,
    handlerFor(() => api.openapi),
  )
  for (const endpoint of ENDPOINTS)
    router[endpoint.method](
      routeOf(endpoint.path),
      handlerFor((message, response) =>
        api.answer(
          endpoint,
          { message, params: message.params as never, query: queryOf(message) },
          response.locals[PRINCIPAL_KEY],
        ),
      ),
    )
  for (const [path, allow] of methodsOf([OPENAPI_ROUTE, ...ENDPOINTS])) {
    router.options(
      path,
      handlerFor(() => ({ status: 204, headers: { allow }, text: '' })),
    )
    router.all(path, refusalHandler(wrongMethod(allow), { allow }))
  }
  router.use(refusalHandler(unknownPath()))
  router.use((thrown: unknown, message: Request, response: Response, _next: NextFunction) =>
    refusalHandler(thrown)(message, response),
  )
  return router
}

/** Converts a path such as `/keys/{id}` to express syntax. */
const routeOf = (path: string): string => VERSION_PREFIX + path.replaceAll(/\{(\w+)\}/g, ':$1')

/** Returns the `allow` header of each path. */
function methodsOf(endpoints: readonly Pick<Endpoint, 'method' | 'path'>[]): ReadonlyMap<string, string> {
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of endpoints) {
    const pathMethods = methods.get(routeOf(path)) ?? new Set(['OPTIONS'])
    methods.set(routeOf(path), pathMethods.add(method.toUpperCase()))
    if (method === 'get') pathMethods.add('HEAD')
  }
  return new Map([...methods].map(([path, all]) => [path, [...all].sort().join(', ')]))
}

const queryOf = ({ url }: Request): string => url.slice(url.indexOf('?') + 1 || url.length)
