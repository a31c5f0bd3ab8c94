import type { ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import type { UpstreamBehaviour } from './scenario.ts'

/* Writes the answers of the kit's upstream. */

/** Times at which an answer ended, on the clock of `performance.now()`. */
export interface AnswerEnd {
  /** Time at which the pause ended, in milliseconds, if the answer had one. */
  readonly resumed?: number
  /** True if the other side closed the connection before the answer was complete. */
  readonly wasClosed: boolean
}

/** Maximum length of a chunk of a streamed answer, in bytes. */
const MAX_CHUNK_BYTES = 37
/** Maximum number of chunks per answer. Very long answers get longer chunks instead. */
const MAX_CHUNKS = 400

/** Splits bytes into chunks, identically in every run. Cuts may fall within lines, characters and line ends. */
function* chunks(bytes: Buffer): Generator<Buffer> {
  const longest = Math.max(MAX_CHUNK_BYTES, Math.ceil(bytes.length / MAX_CHUNKS))
  let state = 7
  for (let at = 0; at < bytes.length; ) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    const length = 1 + (state % longest)
    yield bytes.subarray(at, at + length)
    at += length
  }
}

/** Splits a stream into events, each including its empty line. */
const eventsOf = (bytes: Buffer): Buffer[] =>
  (bytes.toString('utf8').match(/.*?(?:\r?\n){2}|.+$/gs) ?? []).map(event => Buffer.from(event))

/** Waits, but at most until the connection closes. */
const waitWhileOpen = (reply: ServerResponse, ms: number): Promise<void> =>
  new Promise(resolve => {
    const finish = (): void => {
      clearTimeout(timer)
      reply.off('close', finish)
      resolve()
    }
    const timer = setTimeout(finish, ms)
    if (reply.destroyed) finish()
    else reply.once('close', finish)
  })

/** Writes the body of an answer as the scenario states: in chunks, slowly, with a pause, or only up to a cut. */
export async function playAnswer(
  bytes: Buffer,
  isChunked: boolean,
  reply: ServerResponse,
  behaviour: UpstreamBehaviour,
): Promise<AnswerEnd> {
  const { cut_at: cutAt, pause_at: pauseAt, pause = 0, pace } = behaviour
  const cut = cutAt === undefined ? Number.POSITIVE_INFINITY : Math.floor(bytes.length * cutAt)
  const halt = pauseAt === undefined ? Number.POSITIVE_INFINITY : Math.floor(bytes.length * pauseAt)
  let resumed: number | undefined
  let writtenBytes = 0
  for (const piece of isChunked ? (pace === undefined ? chunks(bytes) : eventsOf(bytes)) : [bytes]) {
    if (resumed === undefined && writtenBytes + piece.length > halt) {
      reply.flushHeaders()
      await waitWhileOpen(reply, pause)
      resumed = performance.now()
    }
    if (reply.destroyed) break
    if (writtenBytes + piece.length > cut) {
      // Sends the bytes before the cut before closing the connection.
      await new Promise(resolve => reply.write(piece.subarray(0, cut - writtenBytes), resolve))
      await turn()
      reply.destroy()
      return { wasClosed: false }
    }
    reply.write(piece)
    writtenBytes += piece.length
    if (pace === undefined) await turn()
    else await waitWhileOpen(reply, pace)
  }
  const wasClosed = reply.destroyed
  reply.end()
  return { wasClosed, ...(resumed === undefined ? {} : { resumed }) }
}
