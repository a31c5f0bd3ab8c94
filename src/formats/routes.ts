import type { IncomingHttpHeaders } from 'node:http'
import { invalid, notFound } from '../canonical/error.ts'
import type { Format, JsonObject } from '../canonical/node.ts'
import { percentDecoded } from '../canonical/text.ts'
import type { WireFile, WireRequest } from '../canonical/wire.ts'
import { DEPLOYED_PATHS, type DeployedModel, deployedModel } from './deployments.ts'
import { MESSAGES_VERSION } from './dialects/messages.ts'
import {
  claudeEndpoint,
  type HostedFields,
  invokeEndpoint,
  publishedModel,
  unhosted,
  wrappedRequest,
} from './hosted-routes.ts'
import { column } from './rows/index.ts'
import { vendorEndpoints } from './rows/kling.ts'
import type { Endpoint, ModelMethods } from './rows/row.ts'

/** An endpoint that accepts requests in one format. */
export interface Route extends Endpoint {
  readonly format: Format
  /** Fields stated by the path, at endpoints of a cloud that hosts models of this format. */
  readonly hosted?: HostedFields
  /** The model, at an endpoint whose path names it as a deployment. */
  readonly deployment?: string
}

/**
 * Returns the encoding of an endpoint's streams. A streaming path of Google's API answers with a JSON array, unless the
 * query asks for server-sent events (`alt=sse`).
 */
export const framingOf = ({ framing }: Route, alt: unknown): NonNullable<Route['framing']> | 'events' =>
  framing === undefined || (framing === 'array' && alt === 'sse') ? 'events' : framing

/** The endpoint that matches a path. `streams` is set if the path itself requests a stream. */
export interface MatchedRoute {
  readonly route: Route
  readonly streams: boolean
}

/** Endpoints with fixed paths, as opposed to paths that contain the model. */
export const ROUTES: readonly Route[] = [...column(({ endpoints }) => endpoints)].flatMap(([format, endpoints]) =>
  endpoints.map(endpoint => ({ format, ...endpoint })),
)

/** Endpoints whose paths contain the model, by format. */
export const MODEL_METHODS: ReadonlyMap<Format, ModelMethods> = column(({ methods }) => methods)

/** Returns the endpoint of a model's method, or undefined for a path without a method. */
function methodRoute(path: string): MatchedRoute | undefined {
  for (const [format, { path: pattern, endpoints, below }] of MODEL_METHODS) {
    const [, model, method] = pattern.exec(path) ?? []
    const endpoint = method === undefined ? undefined : endpoints.get(method)
    if (endpoint === undefined) continue
    const { streams = false, ...row } = endpoint
    return { route: { format, ...row, below: below(model!, method!) }, streams }
  }
  return undefined
}

const UNKNOWN_METHOD = notFound('Models have no such method.')

/**
 * Returns the endpoint for a path that contains the model: a model's method, or an endpoint of a cloud that hosts other
 * vendors' models.
 *
 * @throws GatewayError `not-found` for a path with an unsupported method.
 */
export function modelRoute(path: string): MatchedRoute {
  const matched = modelRouteAt(path)
  if (matched === undefined) throw UNKNOWN_METHOD
  return matched
}

function modelRouteAt(path: string): MatchedRoute | undefined {
  const deployed = deployedModel(path)
  if (deployed !== undefined) return deploymentRoute(deployed)
  const published = publishedModel(path)
  if (published?.publisher === 'google') return methodRoute(`/v1/models/${published.model}:${published.method}`)
  const endpoint = published === undefined ? invokeEndpoint(path) : claudeEndpoint(published)
  if (endpoint !== undefined) return { route: { format: 'messages', ...endpoint }, streams: false }
  return published === undefined ? methodRoute(path) : undefined
}

/**
 * Returns the endpoint of a deployment: the format's own, whatever model the body names, because Azure ignores that one.
 */
function deploymentRoute({ model, below }: DeployedModel): MatchedRoute | undefined {
  const own = ROUTE_BY_PATH.get(`/v1${below}`)
  if (own === undefined || !DEPLOYED_PATHS.has(below)) return undefined
  const route = { ...own.route, path: `/openai/deployments/{model}${below}`, deployment: percentDecoded(model) }
  return { route, streams: false }
}

/** Returns true if a path ends with a method, as opposed to a model name that contains a colon. */
export const namesMethod = (path: string): boolean => methodRoute(path) !== undefined

/** Endpoints with fixed paths, by path. */
const ROUTE_BY_PATH: ReadonlyMap<string, MatchedRoute> = new Map(
  ROUTES.map(route => [route.path, { route, streams: false }]),
)

/** Matches the path of a model's method if it does not need to be decoded first. */
const PLAIN_METHOD = /^\/v1(?:beta)?\/(?:models|tunedModels)\/[^%]+$|^(?:(?:\/bedrock)?\/model|\/openai\/deployments)\//

/** Returns the endpoint for a POST request, or undefined if the path must be decoded first or has no endpoint. */
export const matchedRoute = (path: string): MatchedRoute | undefined =>
  ROUTE_BY_PATH.get(path) ?? (PLAIN_METHOD.test(path) ? modelRouteAt(path) : undefined)

/**
 * Returns the path below the base URL for a body in the format. If the format has several paths, the fields of the body
 * determine which one.
 *
 * @param stream whether the answer is streamed, for formats with a separate path for streams.
 */
export function pathFor(format: Format, model: string, body: JsonObject, stream = false): string {
  const hasMark = ({ mark }: Partial<Endpoint>): boolean => mark !== undefined && body[mark] !== undefined
  const methods = MODEL_METHODS.get(format)
  if (methods !== undefined) {
    const allMethods = [...methods.endpoints]
    const markedMethods = allMethods.filter(([, endpoint]) => hasMark(endpoint))
    const [method] =
      markedMethods.findLast(([, { streams = false }]) => streams === stream) ?? markedMethods.at(-1) ?? allMethods[0]!
    return methods.pathOf(model, method)
  }
  const routes = ROUTES.filter(route => route.format === format)
  return (routes.find(hasMark) ?? routes[0])?.below ?? '/'
}

/** Returns the gateway's path for a path below the format's base URL, or the same path if there is no such endpoint. */
export const endpointPath = (format: Format, below: string): string =>
  ROUTES.find(route => route.format === format && route.below === below)?.path ?? below

/** Patterns of other paths, by format. */
const OTHER_PATHS = [...column(({ otherPaths }) => otherPaths)]

/** Usual endpoint of each format whose paths contain the model. */
const DEFAULT_METHODS = [...MODEL_METHODS].map(([format, { endpoints }]) => ({
  format,
  ...[...endpoints.values()][0]!,
}))

/** Returns the endpoints whose mark the body contains. */
const markedRoutes = (body: JsonObject): readonly Pick<Route, 'format' | 'path' | 'mark'>[] =>
  [...ROUTES, ...DEFAULT_METHODS].filter(({ mark }) => body[mark] !== undefined)

/** Returns the format of a path or, for a path that is not an endpoint, the most likely format of the caller. */
export const formatOfPath = (path: string): Format =>
  ROUTE_BY_PATH.get(path)?.route.format ?? OTHER_PATHS.find(([, prefix]) => prefix.test(path))?.[0] ?? 'chat'

/** The head of a request: its headers, and its query without credentials. */
export interface RequestHead {
  readonly headers: IncomingHttpHeaders
  readonly query: Query
}

export interface Query {
  readonly [name: string]: string
}

/**
 * Returns the endpoint and body of a request in another format that an endpoint's body contains, or undefined if there
 * is none.
 */
export function unwrapped(route: Route, body: JsonObject): { route: Route; body: JsonObject } | undefined {
  const wrapped = route.wraps === true ? wrappedRequest(route.below, body) : undefined
  return wrapped && { route: { format: 'messages', ...wrapped.endpoint }, body: wrapped.body }
}

/**
 * Creates the wire request for an endpoint. Passes on only the format's headers and query parameters.
 *
 * @throws GatewayError `invalid-request` if the version is missing, or if the body belongs to another endpoint.
 */
export function wireRequest(
  route: Route,
  { headers, query }: RequestHead,
  body: JsonObject,
  files?: readonly WireFile[],
): WireRequest {
  if (route.hosted !== undefined) {
    const { hosted, ...own } = route
    const { body: formatBody, ...parts } = unhosted(hosted, { headers, body })
    return wireRequest(own, { query, ...parts }, formatBody)
  }
  const formatHeaders = pickedValues(route.headers, headers)
  if (route.version !== undefined) formatHeaders[route.version[0]!] = versionOf(route, route.version, headers)
  if (files === undefined) checkBody(route, body)
  const named = route.deployment === undefined ? body : { ...body, model: route.deployment }
  const request = {
    path: route.below,
    query: pickedValues(route.query ?? [], query),
    headers: formatHeaders,
    body: named,
  }
  return files === undefined ? request : { ...request, files }
}

function pickedValues(names: readonly string[], headers: IncomingHttpHeaders): Record<string, string> {
  const values: Record<string, string> = {}
  for (const name of names) {
    const value = headers[name]
    if (value !== undefined) values[name] = String(value)
  }
  return values
}

/**
 * Checks and returns the version header. Any date is accepted, and requests of all versions are read in the same way.
 */
function versionOf(route: Route, names: readonly string[], headers: IncomingHttpHeaders): string {
  const value = names.map(name => headers[name]).find(value => value !== undefined)
  if (value === undefined && route.versionOptional === true) return MESSAGES_VERSION
  if (value === undefined) throw invalid(`${names[0]}: header is required, e.g. ${MESSAGES_VERSION}.`)
  if (!isDate(String(value))) throw invalid(`${names[0]}: a version is a date such as ${MESSAGES_VERSION}.`)
  return String(value)
}

/**
 * Returns true for a date. First compares with the usual version, because nearly every caller sends it and parsing a
 * date is slow.
 */
const isDate = (text: string): boolean =>
  text === MESSAGES_VERSION ||
  (/^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true)

/** Refuses a body that lacks this endpoint's mark but has another endpoint's (trap 73). */
function checkBody(route: Route, body: JsonObject): void {
  if (body[route.mark] !== undefined) return
  const others = markedRoutes(body).filter(({ mark }) => route.takes?.includes(mark) !== true)
  const mark = others[0]?.mark
  if (mark === undefined) return
  const routesWithMark = others.filter(other => other.mark === mark)
  const paths = routesWithMark
    .filter((one, index) => routesWithMark.findIndex(({ format }) => format === one.format) === index)
    .map(({ path }) => `POST ${path}`)
  throw invalid(`A body with \`${mark}\` belongs to ${paths.join(' or ')}, not to this endpoint.`)
}

/** Returns the routes at which a video vendor's clients submit tasks. */
export const vendorRoutes = (vendor: string): readonly Route[] =>
  vendorEndpoints(vendor).map(endpoint => ({ format: 'kling', ...endpoint }))
