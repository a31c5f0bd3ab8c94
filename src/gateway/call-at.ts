import type { IncomingMessage } from 'node:http'
import { framingOf, type MatchedRoute, type Query } from '../formats/routes.ts'
import type { Call, Reply } from './call.ts'

/** Converts a request at an endpoint into a `Call` for the gateway. */
export const callAt = (
  { route, streams }: MatchedRoute,
  id: string,
  message: IncomingMessage,
  { query, queryKey }: { readonly query: Query; readonly queryKey?: string },
  reply: Reply,
): Call => ({
  id,
  format: route.format,
  path: route.path,
  route,
  message,
  queryKey,
  head: { headers: message.headers, query: requestQuery(query, streams) },
  framing: framingOf(route, query['alt']),
  reply,
})

/**
 * Removes `alt` from the query, because framing concerns only this endpoint. Streams from upstreams are always events
 * (docs/wire/contents.md#stream).
 */
function requestQuery(query: Query, streams: boolean): Query {
  if (!streams && query['alt'] === undefined) return query
  const { alt: _, ...rest } = query
  return streams ? { ...rest, alt: 'sse' } : rest
}
