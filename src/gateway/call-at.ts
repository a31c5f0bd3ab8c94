import type { IncomingMessage } from 'node:http'
import type { MatchedRoute, Query } from '../formats/routes.ts'
import type { Call, Reply } from './call.ts'

/** A message at an endpoint as the call that the gateway handles. */
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
  head: { headers: message.headers, query: ownQuery(query, streams) },
  framing: framingOf(query, streams),
  reply,
})

/** The stream of a path that asks for one itself is a JSON array, unless its query asks for events. */
const framingOf = (query: Query, streams: boolean): 'array' | 'events' =>
  streams && query['alt'] !== 'sse' ? 'array' : 'events'

/**
 * The framing of a stream concerns this endpoint alone: below it, streams are always events
 * (docs/wire/contents.md#stream).
 */
function ownQuery(query: Query, streams: boolean): Query {
  if (!streams && query['alt'] === undefined) return query
  const { alt: _, ...rest } = query
  return streams ? { ...rest, alt: 'sse' } : rest
}
