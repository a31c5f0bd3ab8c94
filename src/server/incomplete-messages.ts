import type { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'

/** Counts buffered bytes. */
interface Meter {
  take(bytes: number): void
  give(bytes: number): void
}

/** Framing of a ping or pong from a caller, in bytes: a 2-byte header and a 4-byte mask (RFC 6455, section 5.2). */
const CONTROL_FRAME_SIZE = 6

/** Counts the bytes of a connection's incomplete message. Calls `onOverflow` if they exceed the meter's limit. */
export function countIncompleteMessages(
  connection: Duplex,
  socket: EventEmitter,
  meter: Meter,
  onOverflow: () => void,
): void {
  let bufferedBytes = 0
  const release = (bytes: number): void => {
    bufferedBytes -= bytes
    meter.give(bytes)
  }
  connection.prependListener('data', (chunk: Buffer) => {
    bufferedBytes += chunk.length
    try {
      meter.take(chunk.length)
    } catch {
      onOverflow()
    }
  })
  socket.prependListener('message', () => release(bufferedBytes))
  for (const event of ['ping', 'pong'] as const)
    socket.on(event, (data: Buffer) => release(Math.min(bufferedBytes, data.length + CONTROL_FRAME_SIZE)))
}
