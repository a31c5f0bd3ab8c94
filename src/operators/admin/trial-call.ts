import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Caller } from '../../accounts/index.ts'
import { GatewayError } from '../../canonical/error.ts'
import type { Format, JsonObject } from '../../canonical/node.ts'
import { MESSAGES_VERSION } from '../../formats/dialects/messages.ts'
import { type MatchedRoute, modelRoute, pathFor, ROUTES, type Route, vendorRoutes } from '../../formats/routes.ts'
import type { Call } from '../../gateway/call.ts'
import { callAt } from '../../gateway/call-at.ts'
import type { LiveExchange } from './endpoint.ts'
import { invalidInput } from './problem.ts'
import { TrialReply } from './trial-reply.ts'

/** A trial request to a model endpoint. */
export interface TrialRequest {
  /** Id of the key whose permissions, limits and usage apply. */
  readonly key: string
  readonly format: Format
  /** Path with query. The default is the format's path for this body. */
  readonly path?: string
  /** Additional headers of the format. */
  readonly headers?: { readonly [name: string]: string }
  readonly body: JsonObject
}

/** The route and query of a trial request. */
interface TrialRoute extends MatchedRoute {
  readonly query: { readonly [name: string]: string }
}

/**
 * Headers passed on from the administrator's browser, which show where the request came from. All others are dropped.
 */
const FORWARDED_HEADERS = [
  'host',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
] as const

/**
 * Finds the endpoint for a trial request.
 *
 * @param vendor first path segment of the video vendor's endpoints.
 * @throws Problem `invalid-input` if the path is not an endpoint of the format.
 */
export function routeOf({ format, path, body }: TrialRequest, vendor: string): TrialRoute {
  const routes = [...ROUTES, ...vendorRoutes(vendor)].filter(route => route.format === format)
  const { pathname, searchParams } = new URL(`http://gateway${path ?? defaultPath(format, routes, body)}`)
  const query = Object.fromEntries(searchParams)
  const route = routes.find(one => one.path === pathname)
  if (route?.form === 'only')
    throw invalidInput({ pointer: '/path', detail: 'requires a form, which cannot be tried here' })
  if (route !== undefined) return { route, query, streams: false }
  const match = methodOf(pathname)
  if (match?.route.format !== format) throw invalidInput({ pointer: '/path', detail: `is not a path of ${format}` })
  return { ...match, query }
}

function defaultPath(format: Format, routes: readonly Route[], body: JsonObject): string {
  const path = pathFor(format, '', body)
  const route = routes.find(one => one.below === path) ?? routes[0]
  if (route !== undefined) return route.path
  throw invalidInput({
    pointer: '/path',
    detail: `is missing: requests in format ${format} name their model in the path, or the format has no endpoint`,
  })
}

function methodOf(path: string): MatchedRoute | undefined {
  try {
    return modelRoute(path)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined
    throw thrown
  }
}

/**
 * Builds the call for a trial request. It uses the administrator's connection, but none of the administrator's
 * credentials.
 */
export function trialCall(
  { body, headers: givenHeaders = {} }: TrialRequest,
  matchedRoute: TrialRoute,
  caller: Caller,
  { id, message, reply }: LiveExchange,
): Call {
  const headers = headersOf(message, matchedRoute.route, givenHeaders, body)
  const trialMessage = { headers, socket: message.socket, method: 'POST' } as IncomingMessage
  return { ...callAt(matchedRoute, id, trialMessage, matchedRoute, new TrialReply(reply)), as: caller, body }
}

function headersOf(
  { headers }: IncomingMessage,
  route: Route,
  givenHeaders: TrialRequest['headers'],
  body: JsonObject,
): IncomingHttpHeaders {
  const forwarded = FORWARDED_HEADERS.flatMap(name =>
    headers[name] === undefined ? [] : [[name, headers[name]] as const],
  )
  const [version] = route.version ?? []
  const names = [...route.headers, ...(route.version ?? [])]
  const ownHeaders = Object.entries(givenHeaders ?? {}).filter(([name]) => names.includes(name))
  return {
    ...Object.fromEntries(forwarded),
    ...{ 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(JSON.stringify(body))) },
    ...(version === undefined ? {} : { [version]: MESSAGES_VERSION }),
    ...Object.fromEntries(ownHeaders),
  }
}
