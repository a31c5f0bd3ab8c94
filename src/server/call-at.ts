import type { IncomingMessage } from 'node:http'
import type { Door } from '../endpoints/routes.ts'
import type { Query } from '../endpoints/wire-request.ts'
import type { Call, Reply } from '../gateway/index.ts'

/** A message at a door as the call that the gateway handles. */
export const callAt = (
  { route, streams }: Door,
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
  line: { headers: message.headers, query: ownQuery(query, streams) },
  framing: framingOf(query, streams),
  reply,
})

/** The stream of a path that asks for one itself is a JSON array, unless its query asks for events. */
const framingOf = (query: Query, streams: boolean): 'array' | 'events' =>
  streams && query['alt'] !== 'sse' ? 'array' : 'events'

/** The framing of a stream concerns this endpoint alone: below it, streams are always events (FORMATS §1). */
function ownQuery(query: Query, streams: boolean): Query {
  if (!streams && query['alt'] === undefined) return query
  const { alt: _, ...rest } = query
  return streams ? { ...rest, alt: 'sse' } : rest
}
