import type { IncomingHttpHeaders } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { WireFile, WireRequest } from '../canonical/wire.ts'
import { markedRoutes, type Route } from './routes.ts'

/** What came with a body: the headers, and the query without a credential. */
export interface Line {
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
  { headers, query }: Line,
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
  if (value === undefined) throw wrong(`${names[0]}: header is required, e.g. ${USUAL_VERSION}.`)
  if (!isDate(String(value))) throw wrong(`${names[0]}: a version is a date such as ${USUAL_VERSION}.`)
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
  throw wrong(`A body with \`${mark}\` does not belong here but to ${paths.join(' or ')}.`)
}

const wrong = (message: string): GatewayError => new GatewayError({ kind: 'invalid-request', message })
