import { get } from '../../api/request.ts'
import type { PageOf, Request } from '../../api/types.ts'

/** Pattern of a request id. The first 12 hex digits are the time of the request in Unix milliseconds. */
const ID = /^req_([0-9a-f]{12})[0-9a-f]{20}$/
/** Time searched before and after the time in the id, in milliseconds. */
const AROUND = 1000
/** Maximum time for which a request may still be running, in milliseconds. */
const RUNNING = 600_000

/**
 * Loads one request by its id. Undefined if it may still be running. A recent request is looked up in the list of its
 * time, so that polling for a running request causes no 404.
 *
 * @throws ProblemError `not-found` for an unknown or deleted request.
 */
export async function requestAt(id: string, signal: AbortSignal): Promise<Request | undefined> {
  const path = `/requests/${encodeURIComponent(id)}`
  const digits = ID.exec(id)?.[1]
  const at = digits === undefined ? 0 : Number.parseInt(digits, 16)
  if (Math.abs(Date.now() - at) > RUNNING) return get<Request>(path, {}, signal)
  const [since, until] = [at - AROUND, at + AROUND].map(time => new Date(time).toISOString())
  const { data, next_cursor: more } = await get<PageOf<Request>>('/requests', { since, until, limit: 500 }, signal)
  return data.find(row => row.id === id) ?? (more === undefined ? undefined : get<Request>(path, {}, signal))
}
