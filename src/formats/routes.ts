import type { IncomingHttpHeaders } from 'node:http'
import { invalid, notFound } from '../canonical/error.ts'
import type { Format, JsonObject } from '../canonical/node.ts'
import type { WireFile, WireRequest } from '../canonical/wire.ts'
import { MESSAGES_VERSION } from './dialects/messages.ts'
import { claudeEndpoint, type HostedFields, publishedModel, unhosted } from './hosted-routes.ts'
import { METHOD, METHODS } from './rows/contents.ts'
import { column } from './rows/index.ts'
import { vendorEndpoints } from './rows/kling.ts'
import type { Endpoint } from './rows/row.ts'

/** One endpoint that takes requests of one format. */
export interface Route extends Endpoint {
  readonly format: Format
  /** Fields that the path states, at endpoints of a cloud that hosts models of this format. */
  readonly hosted?: HostedFields
}

/** The endpoint for a path. `streams` is set if the path itself asks for a stream. */
export interface MatchedRoute {
  readonly route: Route
  readonly streams: boolean
}

/** Endpoints with fixed paths. Those of `contents` have model and method in theirs. */
export const ROUTES: readonly Route[] = [...column(({ endpoints }) => endpoints)].flatMap(([format, endpoints]) =>
  endpoints.map(endpoint => ({ format, ...endpoint })),
)

const CONTENTS: Omit<Route, 'below'> = { format: 'contents', ...METHOD }

/** Matches the path of a model's method. Captures both. */
const METHOD_PATH = /^\/v1(?:beta)?\/(.+)(?::|%3[Aa])([A-Za-z]+)$/

/**
 * Returns the `contents` endpoint for a path below `/v1` or `/v1beta`, e.g. `/v1/models/a/b:generateContent`. The
 * method follows the last colon, which some clients encode (docs/wire/contents.md#endpoints).
 *
 * @throws GatewayError `not-found` for a path with an unsupported method.
 */
export function contentsRoute(path: string): MatchedRoute {
  const matched = methodRoute(path)
  if (matched === undefined) throw NO_METHOD
  return matched
}

function methodRoute(path: string): MatchedRoute | undefined {
  const [, model, method] = METHOD_PATH.exec(path) ?? []
  const endpoint = METHODS.get(method ?? '')
  if (endpoint === undefined) return undefined
  const route = { ...CONTENTS, ...endpoint, below: `/v1beta/${model}:${method}` }
  return { route, streams: method === 'streamGenerateContent' }
}

const NO_METHOD = notFound('Models have no such method.')

/**
 * Returns the endpoint for a path of Google Cloud: `…/publishers/anthropic/models/{model}:rawPredict` for Claude, and
 * `…/publishers/google/models/{model}:generateContent` for Gemini.
 *
 * @throws GatewayError `not-found` for a path with an unsupported method.
 */
export function publisherRoute(path: string): MatchedRoute {
  const published = publishedModel(path)
  if (published?.publisher === 'google') return contentsRoute(`/v1/models/${published.model}:${published.method}`)
  const endpoint = published && claudeEndpoint(published)
  if (endpoint === undefined) throw NO_METHOD
  return { route: { format: 'messages', ...endpoint }, streams: false }
}

/** Whether a path ends with a method, and not with a model name that contains a colon. */
export const namesMethod = (path: string): boolean => methodRoute(path) !== undefined

/** Endpoints by their paths. */
const MATCHED: ReadonlyMap<string, MatchedRoute> = new Map(ROUTES.map(route => [route.path, { route, streams: false }]))

/** Matches the path of a model's method without encoded characters. */
const PLAIN_METHOD = /^\/v1(?:beta)?\/(?:models|tunedModels)\/[^%]+$/

/** Returns the endpoint of a POST request. Undefined if the path has to be decoded or has no endpoint. */
export const matchedRoute = (path: string): MatchedRoute | undefined =>
  MATCHED.get(path) ?? (PLAIN_METHOD.test(path) ? methodRoute(path) : undefined)

/**
 * Returns the path, below the base URL, for a body of the format. The fields of the body decide between several paths.
 *
 * @param stream whether the answer is streamed, for formats whose path states it.
 */
export function pathFor(format: Format, model: string, body: JsonObject, stream = false): string {
  const isMeant = ({ mark }: Partial<Endpoint>): boolean => mark !== undefined && body[mark] !== undefined
  if (format === CONTENTS.format) {
    const asked = stream ? 'streamGenerateContent' : 'generateContent'
    const [method = asked] = [...METHODS].find(([, methodRoute]) => isMeant(methodRoute)) ?? []
    return `/v1beta/models/${model}:${method}`
  }
  const routes = ROUTES.filter(route => route.format === format)
  return (routes.find(isMeant) ?? routes[0])?.below ?? '/'
}

/** Returns the gateway's path for a path below the format's base URL. The same path if there is no endpoint for it. */
export const endpointPath = (format: Format, below: string): string =>
  ROUTES.find(route => route.format === format && route.below === below)?.path ?? below

/** The formats of further paths, by how these begin. */
const OTHER_PATHS = [...column(({ otherPaths }) => otherPaths)]

/** Returns the endpoints whose mark the body contains. */
const markedRoutes = (body: JsonObject): readonly Pick<Route, 'format' | 'path' | 'mark'>[] =>
  [...ROUTES, CONTENTS].filter(({ mark }) => body[mark] !== undefined)

/** Returns the format of a path; for a path that is not an endpoint, the likely format of its caller. */
export const formatOfPath = (path: string): Format =>
  MATCHED.get(path)?.route.format ?? OTHER_PATHS.find(([, prefix]) => prefix.test(path))?.[0] ?? 'chat'

/** The head of a request: its headers, and its query without credentials. */
export interface RequestHead {
  readonly headers: IncomingHttpHeaders
  readonly query: Query
}

export interface Query {
  readonly [name: string]: string
}

/**
 * Creates the wire request of an endpoint. Passes on only the headers and query parameters of the format.
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
    const { body: ownBody, ...parts } = unhosted(hosted, { headers, body })
    return wireRequest(own, { query, ...parts }, ownBody)
  }
  const formatHeaders = selected(route.headers, headers)
  if (route.version !== undefined) formatHeaders[route.version[0]!] = versionOf(route.version, headers)
  if (files === undefined) checkBody(route, body)
  const request = { path: route.below, query: selected(route.query ?? [], query), headers: formatHeaders, body }
  return files === undefined ? request : { ...request, files }
}

function selected(names: readonly string[], headers: IncomingHttpHeaders): Record<string, string> {
  const values: Record<string, string> = {}
  for (const name of names) {
    const value = headers[name]
    if (value !== undefined) values[name] = String(value)
  }
  return values
}

/** Checks and returns the version header. Any date is taken, and requests of all versions are read alike. */
function versionOf(names: readonly string[], headers: IncomingHttpHeaders): string {
  const value = names.map(name => headers[name]).find(value => value !== undefined)
  if (value === undefined) throw invalid(`${names[0]}: header is required, e.g. ${MESSAGES_VERSION}.`)
  if (!isDate(String(value))) throw invalid(`${names[0]}: a version is a date such as ${MESSAGES_VERSION}.`)
  return String(value)
}

/** Compares with the usual version first, because nearly every caller sends it and parsing a date is slow. */
const isDate = (text: string): boolean =>
  text === MESSAGES_VERSION ||
  (/^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true)

/** Refuses a body that lacks this endpoint's mark and has the mark of another (trap 73). */
function checkBody(route: Route, body: JsonObject): void {
  if (body[route.mark] !== undefined) return
  const others = markedRoutes(body).filter(({ mark }) => route.takes?.includes(mark) !== true)
  const mark = others[0]?.mark
  if (mark === undefined) return
  const marked = others.filter(other => other.mark === mark)
  const paths = marked
    .filter((one, index) => marked.findIndex(({ format }) => format === one.format) === index)
    .map(({ path }) => `POST ${path}`)
  throw invalid(`A body with \`${mark}\` belongs to ${paths.join(' or ')}, not to this endpoint.`)
}

/** Returns the routes where clients of the video vendor submit tasks. */
export const vendorRoutes = (vendor: string): readonly Route[] =>
  vendorEndpoints(vendor).map(endpoint => ({ format: 'kling', ...endpoint }))
