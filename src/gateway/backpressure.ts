import { PATIENCE } from '../egress/transport/sse.ts'
import type { Reply } from './call.ts'

/**
 * Settles when the caller has taken what was written, or will never: one that takes nothing for too long is gone.
 *
 * @param heartbeat milliseconds between signs of life on a silent stream.
 */
export function drained(reply: Reply, heartbeat: number): Promise<void> {
  return new Promise(resolve => {
    const before = reply.worker
    const timer = setTimeout(() => reply.destroy(), heartbeat * PATIENCE)
    const done = (): void => {
      clearTimeout(timer)
      reply.worker = before
      resolve()
    }
    reply.worker = {
      abort: why => {
        before?.abort(why)
        done()
      },
    }
    reply.once('drain', done)
  })
}
