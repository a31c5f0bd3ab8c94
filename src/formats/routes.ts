import type { IncomingHttpHeaders } from 'node:http'
import { invalid, notFound } from '../canonical/error.ts'
import type { Format, JsonObject } from '../canonical/node.ts'
import type { WireFile, WireRequest } from '../canonical/wire.ts'
import { METHOD, METHODS } from './rows/contents.ts'
import { column } from './rows/index.ts'
import { vendorEndpoints } from './rows/kling.ts'
import type { Endpoint } from './rows/row.ts'

/** One endpoint that takes requests of one format. */
export interface Route extends Endpoint {
  readonly format: Format
}

/** A request at an endpoint; `streams` is set where the path itself asks for a stream. */
export interface MatchedRoute {
  readonly route: Route
  readonly streams: boolean
}

/** Endpoints with fixed paths; those of `contents` have model and method in theirs. */
export const ROUTES: readonly Route[] = [...column(({ endpoints }) => endpoints)].flatMap(([format, endpoints]) =>
  endpoints.map(endpoint => ({ format, ...endpoint })),
)

/** Endpoints by their paths. */
export const BY_PATH: ReadonlyMap<string, Route> = new Map(ROUTES.map(route => [route.path, route]))

const CONTENTS: Omit<Route, 'below'> = { format: 'contents', ...METHOD }

/** The paths of a model's methods, as they are documented. */
export const METHOD_PATHS: readonly string[] = [...METHODS.keys()].map(method => `/v1beta/models/{model}:${method}`)

/** A model, and its method. */
const METHOD_PATH = /^\/v1(?:beta)?\/(.+)(?::|%3[Aa])([A-Za-z]+)$/

/**
 * The `contents` endpoint for a path below `/v1` or `/v1beta`, e.g. `/v1/models/a/b:generateContent`; the method is
 * what follows the last colon, which some clients encode (docs/wire/contents.md#endpoints). Throws GatewayError
 * `not-found` for a path with an unsupported method.
 */
export function contentsRoute(path: string): MatchedRoute {
  const [, model, method] = METHOD_PATH.exec(path) ?? []
  const own = METHODS.get(method ?? '')
  if (own === undefined) throw NO_METHOD
  const route = { ...CONTENTS, ...own, below: `/v1beta/${model}:${method}` }
  return { route, streams: method === 'streamGenerateContent' }
}

const NO_METHOD = notFound('There is no such method of models.')

/** Whether a path ends with a method of a model, rather than with a model's name that has a colon. */
export const namesMethod = (path: string): boolean => METHODS.has(METHOD_PATH.exec(path)?.[2] ?? '')

const MATCHED: ReadonlyMap<string, MatchedRoute> = new Map(ROUTES.map(route => [route.path, { route, streams: false }]))

/** The path of a model's method in which nothing is encoded. */
const PLAIN_METHOD = /^\/v1(?:beta)?\/(?:models|tunedModels)\/[^%]+$/

/** The endpoint of a POST request by its path as it is; undefined where the path has to be decoded, or has none. */
export const matchedRoute = (path: string): MatchedRoute | undefined =>
  MATCHED.get(path) ?? (PLAIN_METHOD.test(path) && namesMethod(path) ? contentsRoute(path) : undefined)

/** The path below its base address for a body of the format, by the field it has. */
export function pathFor(format: Format, model: string, body: JsonObject): string {
  const isMeant = ({ mark }: Partial<Endpoint>): boolean => mark !== undefined && body[mark] !== undefined
  if (format === CONTENTS.format) {
    const [method = 'generateContent'] = [...METHODS].find(([, own]) => isMeant(own)) ?? []
    return `/v1beta/models/${model}:${method}`
  }
  const routes = ROUTES.filter(route => route.format === format)
  return (routes.find(isMeant) ?? routes[0])?.below ?? '/'
}

/** The path at the gateway of a path below the base address of the format; the same where it has no endpoint for it. */
export const doorPath = (format: Format, below: string): string =>
  ROUTES.find(route => route.format === format && route.below === below)?.path ?? below

/** The formats of further paths, by how these begin. */
const OTHER_PATHS = [...column(({ otherPaths }) => otherPaths)]

/** The endpoints that a body with such a field may be meant for. */
const markedRoutes = (body: JsonObject): readonly Pick<Route, 'format' | 'path' | 'mark'>[] =>
  [...ROUTES, CONTENTS].filter(({ mark }) => body[mark] !== undefined)

/** The likely format of a caller at a path that is no endpoint. */
export const formatOfPath = (path: string): Format =>
  BY_PATH.get(path)?.format ?? OTHER_PATHS.find(([, begins]) => begins.test(path))?.[0] ?? 'chat'

/** What came with a body: the headers, and the query without a credential. */
export interface RequestHead {
  readonly headers: IncomingHttpHeaders
  readonly query: Query
}

export interface Query {
  readonly [name: string]: string
}

/**
 * A request at an endpoint, in its format.
 *
 * @throws GatewayError `invalid-request` without a version, or for a body that belongs to another endpoint.
 */
export function wireRequest(
  route: Route,
  { headers, query }: RequestHead,
  body: JsonObject,
  files?: readonly WireFile[],
): WireRequest {
  const own = selected(route.headers, headers)
  if (route.version !== undefined) own[route.version[0]!] = versionOf(route.version, headers)
  if (files === undefined) checkBody(route, body)
  const request = { path: route.below, query: selected(route.query ?? [], query), headers: own, body }
  return files === undefined ? request : { ...request, files }
}

function selected(names: readonly string[], headers: IncomingHttpHeaders): Record<string, string> {
  const own: Record<string, string> = {}
  for (const name of names) {
    const value = headers[name]
    if (value !== undefined) own[name] = String(value)
  }
  return own
}

/** The date has no effect here: an unknown one is treated like the newest known. */
function versionOf(names: readonly string[], headers: IncomingHttpHeaders): string {
  const value = names.map(name => headers[name]).find(value => value !== undefined)
  if (value === undefined) throw invalid(`${names[0]}: header is required, e.g. ${USUAL_VERSION}.`)
  if (!isDate(String(value))) throw invalid(`${names[0]}: a version is a date such as ${USUAL_VERSION}.`)
  return String(value)
}

const USUAL_VERSION = '2023-06-01'

/** Nearly every caller sends the usual version: no date is made of it. */
const isDate = (text: string): boolean =>
  text === USUAL_VERSION ||
  (/^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true)

/**
 * A body without this endpoint's own field but with another's came to the wrong endpoint (trap 73: the field decides).
 */
function checkBody(route: Route, body: JsonObject): void {
  if (body[route.mark] !== undefined) return
  const others = markedRoutes(body).filter(({ mark }) => route.takes?.includes(mark) !== true)
  const mark = others[0]?.mark
  if (mark === undefined) return
  const marked = others.filter(other => other.mark === mark)
  const paths = marked
    .filter((one, index) => marked.findIndex(({ format }) => format === one.format) === index)
    .map(({ path }) => `POST ${path}`)
  throw invalid(`A body with \`${mark}\` does not belong here but to ${paths.join(' or ')}.`)
}

/** Returns the routes where clients of the video vendor submit tasks. */
export const vendorRoutes = (vendor: string): readonly Route[] =>
  vendorEndpoints(vendor).map(endpoint => ({ format: 'kling', ...endpoint }))
