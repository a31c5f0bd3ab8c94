import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Caller } from '../../accounts/index.ts'
import { GatewayError } from '../../canonical/error.ts'
import type { Format, JsonObject } from '../../canonical/node.ts'
import { contentsRoute, type MatchedRoute, pathFor, ROUTES, type Route, vendorRoutes } from '../../formats/routes.ts'
import type { Call } from '../../gateway/call.ts'
import { callAt } from '../../gateway/call-at.ts'
import type { LiveExchange } from './endpoint.ts'
import { invalidInput } from './problem.ts'
import { TriedReply } from './tried-reply.ts'

/** What an administrator tries: a request at an endpoint. */
export interface Tried {
  /** The id of the key that it counts as. */
  readonly key: string
  readonly format: Format
  /** With its query; by default that of the format for such a body. */
  readonly path?: string
  /** Headers of the format. */
  readonly headers?: { readonly [name: string]: string }
  readonly body: JsonObject
}

/** Where a request goes, and with which query. */
interface TriedRoute extends MatchedRoute {
  readonly query: { readonly [name: string]: string }
}

/** Headers that show where a request came from. The others are of the administrator's own browser. */
const KEPT = ['host', 'forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'] as const

/** The version that is sent where none is named. */
const VERSION = '2023-06-01'

/**
 * The route of a request.
 *
 * @param vendor the first segment of the vendor's own paths.
 * @throws Problem `invalid-input` for a path that is no endpoint of the format.
 */
export function doorOf({ format, path, body }: Tried, vendor: string): TriedRoute {
  const routes = [...ROUTES, ...vendorRoutes(vendor)].filter(route => route.format === format)
  const { pathname, searchParams } = new URL(`http://gateway${path ?? usualPath(format, routes, body)}`)
  const query = Object.fromEntries(searchParams)
  const route = routes.find(one => one.path === pathname)
  if (route?.form === 'only')
    throw invalidInput({ pointer: '/path', detail: 'takes forms, which cannot be tried here' })
  if (route !== undefined) return { route, query, streams: false }
  const found = methodOf(pathname)
  if (found?.route.format !== format) throw invalidInput({ pointer: '/path', detail: `is no path of ${format}` })
  return { ...found, query }
}

function usualPath(format: Format, routes: readonly Route[], body: JsonObject): string {
  const below = pathFor(format, '', body)
  const route = routes.find(one => one.below === below) ?? routes[0]
  if (route !== undefined) return route.path
  throw invalidInput({
    pointer: '/path',
    detail: `is missing: requests of ${format} name their model there, or there are none`,
  })
}

function methodOf(path: string): MatchedRoute | undefined {
  try {
    return contentsRoute(path)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined
    throw thrown
  }
}

/** The request as it comes in at its endpoint: of the administrator it has the connection, and no credential. */
export function triedCall(
  { body, headers: own = {} }: Tried,
  matched: TriedRoute,
  caller: Caller,
  { id, message, reply }: LiveExchange,
): Call {
  const headers = headersOf(message, matched.route, own, body)
  const tried = { headers, socket: message.socket, method: 'POST' } as IncomingMessage
  return { ...callAt(matched, id, tried, matched, new TriedReply(reply)), as: caller, body }
}

function headersOf(
  { headers }: IncomingMessage,
  route: Route,
  own: Tried['headers'],
  body: JsonObject,
): IncomingHttpHeaders {
  const kept = KEPT.flatMap(name => (headers[name] === undefined ? [] : [[name, headers[name]] as const]))
  const [version] = route.version ?? []
  const names = [...route.headers, ...(route.version ?? [])]
  const written = Object.entries(own ?? {}).filter(([name]) => names.includes(name))
  return {
    ...Object.fromEntries(kept),
    ...{ 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(JSON.stringify(body))) },
    ...(version === undefined ? {} : { [version]: VERSION }),
    ...Object.fromEntries(written),
  }
}
