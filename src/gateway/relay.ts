import type { RawBody } from '../canonical/wire.ts'
import { PATIENCE } from '../egress/transport/sse.ts'
import type { Reply } from './call.ts'
import { GONE, SENT_NOTHING } from './failures.ts'

/**
 * Settles when the caller has taken what was written, or will never: one that takes nothing for too long is gone.
 *
 * @param heartbeat milliseconds between signs of life on a silent stream.
 */
export function drained(reply: Reply, heartbeat: number): Promise<void> {
  return new Promise(resolve => {
    const before = reply.abortable
    const timer = setTimeout(() => reply.destroy(), heartbeat * PATIENCE)
    const done = (): void => {
      clearTimeout(timer)
      reply.abortable = before
      resolve()
    }
    reply.abortable = {
      abort: why => {
        before?.abort(why)
        done()
      },
    }
    reply.once('drain', done)
  })
}

/**
 * Passes an answer on that is no JSON: a text, or bytes as they come, no faster than the caller takes them. Nothing is
 * sent before the first byte is there, so that an upstream that breaks off at once can be made good by another.
 *
 * @param heartbeat milliseconds between signs of life on a silent stream.
 * @param status of the answer's head: 200, or 206 for a part of a file.
 * @throws GatewayError where the upstream sends nothing or breaks off, or the caller left; what was sent by then is for
 * the caller to throw away.
 */
export async function relay(
  reply: Reply,
  headers: { readonly [name: string]: string },
  raw: RawBody,
  heartbeat: number,
  status = 200,
): Promise<void> {
  const about = { 'content-type': raw.mediaType, ...headers }
  if ('text' in raw) return reply.whole(200, about, raw.text)
  const { size } = raw.bytes
  const pieces = raw.bytes.read()[Symbol.asyncIterator]()
  let next = await pieces.next()
  if (next.done === true) throw SENT_NOTHING
  reply.begin(size === undefined ? about : { ...about, 'content-length': String(size) }, status)
  while (next.done !== true) {
    if (!reply.write(next.value) && !reply.gone) await drained(reply, heartbeat)
    if (reply.gone) {
      await pieces.return?.()
      throw GONE
    }
    next = await pieces.next()
  }
  reply.end('')
}
