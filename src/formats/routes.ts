import type { IncomingHttpHeaders } from 'node:http'
import { invalid, notFound } from '../canonical/error.ts'
import type { Format, JsonObject } from '../canonical/node.ts'
import type { WireEvent, WireFile, WireRequest } from '../canonical/wire.ts'

/** An endpoint for requests of one format. */
export interface Route {
  readonly format: Format
  readonly path: string
  /** The path below the format's base URL. */
  readonly below: string
  /** A body field that identifies the endpoint's requests, even if they are sent to another endpoint. */
  readonly mark: string
  /** Marks of other endpoints that requests of this endpoint may also contain. */
  readonly takes?: readonly string[]
  /** Names of the format's request headers. */
  readonly headers: readonly string[]
  /** Names of the format's query parameters; others are for this endpoint only and are not passed on. */
  readonly query?: readonly string[]
  /** Whether the endpoint accepts only forms, or forms and JSON. */
  readonly form?: 'only' | 'too'
  /** The event sent on a silent stream, if a comment is not enough. */
  readonly heartbeat?: WireEvent
  /** Names of the required version header, the format's own first. Versions are dates. */
  readonly version?: readonly string[]
}

/** The endpoint for a path. `streams` is set if the path itself asks for a stream. */
export interface MatchedRoute {
  readonly route: Route
  readonly streams: boolean
}

const RESPONSES: Omit<Route, 'path' | 'below'> = {
  format: 'responses',
  mark: 'input',
  takes: ['prompt'],
  headers: ['openai-beta'],
  query: ['beta'],
}

const MESSAGES: Omit<Route, 'path' | 'below'> = {
  format: 'messages',
  mark: 'messages',
  headers: ['anthropic-beta'],
  query: ['beta'],
  heartbeat: { event: 'ping', data: '{"type":"ping"}' },
  version: ['anthropic-version', 'msgfmt-version'],
}

/** Endpoints with fixed paths. The paths of `contents` contain the model and the method. */
export const ROUTES: readonly Route[] = [
  {
    format: 'chat',
    path: '/v1/chat/completions',
    below: '/chat/completions',
    mark: 'messages',
    headers: ['openai-beta'],
  },
  { ...RESPONSES, path: '/v1/responses', below: '/responses' },
  { ...RESPONSES, path: '/v1/responses/input_tokens', below: '/responses/input_tokens' },
  { ...RESPONSES, takes: [], path: '/v1/responses/compact', below: '/responses/compact' },
  { ...MESSAGES, path: '/v1/messages', below: '/v1/messages' },
  { ...MESSAGES, path: '/v1/messages/count_tokens', below: '/v1/messages/count_tokens' },
  { format: 'embeddings', path: '/v1/embeddings', below: '/embeddings', mark: 'input', headers: [] },
  {
    format: 'rerank',
    path: '/v1/rerank',
    below: '/rerank',
    mark: 'documents',
    headers: ['x-fern-sdk-name', 'user-agent'],
  },
  { format: 'cohere', path: '/v2/rerank', below: '/v2/rerank', mark: 'documents', headers: [] },
  { format: 'cohere', path: '/v2/embed', below: '/v2/embed', mark: 'input_type', headers: [] },
  { format: 'completions', path: '/v1/completions', below: '/completions', mark: 'prompt', headers: [] },
  ...(['generations', 'edits', 'variations'] as const).map(
    (work): Route => ({
      format: 'images',
      path: `/v1/images/${work}`,
      below: `/images/${work}`,
      mark: 'prompt',
      headers: [],
      ...(work === 'generations' ? {} : { form: work === 'edits' ? 'too' : 'only' }),
    }),
  ),
  { format: 'speech', path: '/v1/audio/speech', below: '/audio/speech', mark: 'input', headers: [] },
  ...(['transcriptions', 'translations'] as const).map(
    (work): Route => ({
      format: 'transcriptions',
      path: `/v1/audio/${work}`,
      below: `/audio/${work}`,
      mark: 'file',
      headers: [],
      form: 'only',
    }),
  ),
  { format: 'videos', path: '/v1/videos', below: '/videos', mark: 'prompt', headers: [], form: 'too' },
  { format: 'generations', path: '/v1/video/generations', below: '/video/generations', mark: 'prompt', headers: [] },
]

/** Endpoints by their paths. */
export const BY_PATH: ReadonlyMap<string, Route> = new Map(ROUTES.map(route => [route.path, route]))

const CONTENTS: Omit<Route, 'below'> = {
  format: 'contents',
  path: '/v1beta/models/{model}:generateContent',
  mark: 'contents',
  headers: [],
  query: ['alt'],
}

/** The supported methods of a model, with the differences of their endpoints. */
const METHODS: ReadonlyMap<string, Partial<Route>> = new Map<string, Partial<Route>>([
  ['generateContent', {}],
  ['streamGenerateContent', {}],
  ['embedContent', { path: '/v1beta/models/{model}:embedContent', mark: 'content' }],
  ['batchEmbedContents', { path: '/v1beta/models/{model}:batchEmbedContents', mark: 'requests' }],
  ['countTokens', { mark: 'generateContentRequest', takes: ['contents'] }],
])

/** Documented paths of a model's methods. */
export const METHOD_PATHS: readonly string[] = [...METHODS.keys()].map(method => `/v1beta/models/{model}:${method}`)

/** Matches the path of a model's method; captures both. */
const METHOD_PATH = /^\/v1(?:beta)?\/(.+)(?::|%3[Aa])([A-Za-z]+)$/

/**
 * Returns the `contents` endpoint for a path below `/v1` or `/v1beta`, e.g. `/v1/models/a/b:generateContent`. The
 * method follows the last colon, which some clients encode (docs/wire/contents.md#endpoints).
 *
 * @throws GatewayError `not-found` for a path with an unsupported method.
 */
export function contentsRoute(path: string): MatchedRoute {
  const [, model, method] = METHOD_PATH.exec(path) ?? []
  const own = METHODS.get(method ?? '')
  if (own === undefined) throw NO_METHOD
  const route = { ...CONTENTS, ...own, below: `/v1beta/${model}:${method}` }
  return { route, streams: method === 'streamGenerateContent' }
}

const NO_METHOD = notFound('Models have no such method.')

/** Whether a path ends with a method, and not with a model name that contains a colon. */
export const namesMethod = (path: string): boolean => METHODS.has(METHOD_PATH.exec(path)?.[2] ?? '')

const MATCHED: ReadonlyMap<string, MatchedRoute> = new Map(ROUTES.map(route => [route.path, { route, streams: false }]))

/** Matches the path of a model's method without encoded characters. */
const PLAIN_METHOD = /^\/v1(?:beta)?\/(?:models|tunedModels)\/[^%]+$/

/** Returns the endpoint of a POST request; undefined if the path has to be decoded or has no endpoint. */
export const matchedRoute = (path: string): MatchedRoute | undefined =>
  MATCHED.get(path) ?? (PLAIN_METHOD.test(path) && namesMethod(path) ? contentsRoute(path) : undefined)

/**
 * Returns the path, below the base URL, for a body of the format. The fields of the body decide between several paths.
 */
export function pathFor(format: Format, model: string, body: JsonObject): string {
  const isMeant = ({ mark }: Partial<Route>): boolean => mark !== undefined && body[mark] !== undefined
  if (format === CONTENTS.format) {
    const [method = 'generateContent'] = [...METHODS].find(([, own]) => isMeant(own)) ?? []
    return `/v1beta/models/${model}:${method}`
  }
  const routes = ROUTES.filter(route => route.format === format)
  return (routes.find(isMeant) ?? routes[0])?.below ?? '/'
}

/** Returns the gateway's path for a path below the format's base URL; the same path if there is no endpoint for it. */
export const doorPath = (format: Format, below: string): string =>
  ROUTES.find(route => route.format === format && route.below === below)?.path ?? below

/** Formats of paths that are not endpoints, by prefix. */
const PREFIXES: readonly (readonly [begins: RegExp, format: Format])[] = [
  [/^\/v1(?:beta\/|\/(?:models|tunedModels)\/)/, 'contents'],
  [/^\/v1\/messages/, 'messages'],
  [/^\/v1\/images\//, 'images'],
  [/^\/v1\/videos(?:\/|$)/, 'videos'],
  [/^\/v1\/video\//, 'generations'],
  [/^\/[^/]+\/v1\/videos\/(?:text|image)2video/, 'kling'],
  [/^\/v2\//, 'cohere'],
]

/** Returns the endpoints whose mark the body contains. */
const markedRoutes = (body: JsonObject): readonly Pick<Route, 'format' | 'path' | 'mark'>[] =>
  [...ROUTES, CONTENTS].filter(({ mark }) => body[mark] !== undefined)

/** Returns the format of a path; for a path that is not an endpoint, the likely format of its caller. */
export const formatOfPath = (path: string): Format =>
  BY_PATH.get(path)?.format ?? PREFIXES.find(([begins]) => begins.test(path))?.[1] ?? 'chat'

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

/** Checks and returns the version header. The date has no effect: an unknown one is treated as the newest known one. */
function versionOf(names: readonly string[], headers: IncomingHttpHeaders): string {
  const value = names.map(name => headers[name]).find(value => value !== undefined)
  if (value === undefined) throw invalid(`${names[0]}: header is required, e.g. ${USUAL_VERSION}.`)
  if (!isDate(String(value))) throw invalid(`${names[0]}: a version is a date such as ${USUAL_VERSION}.`)
  return String(value)
}

const USUAL_VERSION = '2023-06-01'

/** Compares with the usual version first, because nearly every caller sends it and parsing a date is slow. */
const isDate = (text: string): boolean =>
  text === USUAL_VERSION ||
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

/** Kinds of videos for which the vendor has separate paths. */
export const VENDOR_WORKS = ['text2video', 'image2video'] as const

/** Returns the routes where clients of the video vendor submit tasks. */
export const vendorRoutes = (vendor: string): readonly Route[] =>
  VENDOR_WORKS.map(work => ({
    ...{ format: 'kling', path: `/${vendor}/v1/videos/${work}`, below: `/v1/videos/${work}` },
    ...{ mark: work === 'image2video' ? 'image' : 'prompt', takes: ['prompt', 'image'], headers: [] },
  }))
