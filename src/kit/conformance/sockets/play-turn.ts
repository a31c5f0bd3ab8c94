import type { AnswerEnd } from '../play-answer.ts'
import type { UpstreamBehaviour } from '../scenario.ts'
import { readSse } from '../sse.ts'
import type { Socket } from './socket.ts'

/** Marks the end of streams over HTTP. It is not sent over sockets. */
const STREAM_END = '[DONE]'

const waitWhileOpen = (socket: Socket, ms: number): Promise<boolean> =>
  socket.waitUntil(() => socket.closed !== undefined, ms)

/** Sends a stream as frames in the way the scenario states: slowly, with a pause, or only up to a cut. */
export async function playTurn(
  stream: Buffer,
  socket: Socket,
  { cut_at: cutAt = 1, pause_at: pauseAt, pause = 0, pace }: UpstreamBehaviour,
): Promise<AnswerEnd> {
  const events = readSse(stream).events.filter(({ data }) => data !== STREAM_END)
  const cut = Math.floor(events.length * cutAt)
  const halt = pauseAt === undefined ? -1 : Math.floor(events.length * pauseAt)
  let resumed: number | undefined
  for (const [index, { data }] of events.entries()) {
    if (index === halt) {
      await waitWhileOpen(socket, pause)
      resumed = performance.now()
    }
    if (index >= cut) {
      await socket.waitUntilDrained()
      socket.terminate()
      return { wasClosed: false }
    }
    if (socket.closed !== undefined) break
    socket.send(data)
    if (pace !== undefined) await waitWhileOpen(socket, pace)
  }
  return { wasClosed: socket.closed !== undefined, ...(resumed === undefined ? {} : { resumed }) }
}
