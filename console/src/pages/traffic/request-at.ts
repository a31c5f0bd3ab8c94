import { get } from '../../api/request.ts'
import type { PageOf, Request } from '../../api/types.ts'

/** An id has the time at which its request came. */
const ID = /^req_([0-9a-f]{12})[0-9a-f]{20}$/
/** Milliseconds around that time; and for which a request may be on its way. */
const AROUND = 1000
const RUNNING = 600_000

/**
 * One request by its id; undefined where it may not be over yet: it is looked for among those of its time, so that to wait
 * for it is no error.
 *
 * @throws ProblemError `not-found` for one that is not kept.
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
