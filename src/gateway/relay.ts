import type { GatewayError } from '../canonical/error.ts'
import type { RawBody } from '../canonical/wire.ts'
import { MAX_MISSED_HEARTBEATS } from '../egress/transport/sse.ts'
import type { Reply } from './call.ts'
import { CALLER_GONE, EMPTY_BODY } from './failures.ts'

/**
 * Waits until the caller has read everything that was written. Closes the connection if the caller reads nothing for
 * too long.
 *
 * @param heartbeat interval between two keep-alives on a silent stream, in milliseconds. The timeout is a multiple of
 * this interval.
 */
export function waitForDrain(reply: Reply, heartbeat: number): Promise<void> {
  return new Promise(resolve => {
    const previous = reply.abortable
    const timer = setTimeout(() => reply.destroy(), heartbeat * MAX_MISSED_HEARTBEATS)
    const finish = (): void => {
      clearTimeout(timer)
      reply.abortable = previous
      resolve()
    }
    reply.abortable = {
      abort: why => {
        previous?.abort(why)
        finish()
      },
    }
    reply.once('drain', finish)
  })
}

/** Matches media types that a header can hold. Upstreams may state any text in JSON. */
const MEDIA_TYPE = /^[\x20-\x7e]{1,200}$/

/** Returns a media type for a header. The type of other texts is unknown. */
const headerOf = (mediaType: string): string => (MEDIA_TYPE.test(mediaType) ? mediaType : 'application/octet-stream')

/**
 * Passes an answer that is not JSON on to the caller: text at once, bytes no faster than the caller reads them. Sends
 * the head with the first byte, so that another upstream can still answer if this one breaks off immediately.
 *
 * @param heartbeat interval between two keep-alives on a silent stream, in milliseconds.
 * @param status status of the answer: 200, or 206 for a part of a file.
 * @throws GatewayError if the upstream sends nothing or breaks off, the caller leaves or the gateway ends the request. The
 * calling function must then abort the partial response.
 */
export async function relay(
  reply: Reply,
  headers: { readonly [name: string]: string },
  raw: RawBody,
  heartbeat: number,
  status = 200,
): Promise<void> {
  const head = { 'content-type': headerOf(raw.mediaType), ...headers }
  if ('text' in raw) return reply.whole(200, head, raw.text)
  const { size } = raw.bytes
  const chunks = raw.bytes.read()[Symbol.asyncIterator]()
  let end: GatewayError | undefined
  const previous = reply.abortable
  // The bytes may be made in memory, so that there is no exchange to abort.
  reply.abortable = {
    abort: why => {
      end = why
      previous?.abort(why)
    },
  }
  try {
    let next = await chunks.next()
    if (next.done === true) throw EMPTY_BODY
    reply.begin(size === undefined ? head : { ...head, 'content-length': String(size) }, status)
    while (next.done !== true) {
      if (!reply.write(next.value) && !reply.gone) await waitForDrain(reply, heartbeat)
      if (reply.gone || end !== undefined) {
        await chunks.return?.()
        throw end ?? CALLER_GONE
      }
      next = await chunks.next()
    }
    reply.end('')
  } finally {
    reply.abortable = previous
  }
}
