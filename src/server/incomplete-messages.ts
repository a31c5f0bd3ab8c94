import type { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'

/** Counts buffered bytes. */
interface Meter {
  take(bytes: number): void
  give(bytes: number): void
}

/** Framing of a ping or pong from a caller, in bytes: a 2-byte header and a 4-byte mask (RFC 6455, section 5.2). */
const CONTROL = 6

/** Counts the bytes of a connection's incomplete message. Calls `full` if they exceed the meter's limit. */
export function countUnfinished(connection: Duplex, socket: EventEmitter, meter: Meter, full: () => void): void {
  let waiting = 0
  const give = (bytes: number): void => {
    waiting -= bytes
    meter.give(bytes)
  }
  connection.prependListener('data', (chunk: Buffer) => {
    waiting += chunk.length
    try {
      meter.take(chunk.length)
    } catch {
      full()
    }
  })
  socket.prependListener('message', () => give(waiting))
  for (const event of ['ping', 'pong'] as const)
    socket.on(event, (data: Buffer) => give(Math.min(waiting, data.length + CONTROL)))
}
