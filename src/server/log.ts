import { pino } from 'pino'
import type { Log } from '../gateway.ts'

/** A log that is written in batches, so that no request waits for a line of it. */
export interface OpenLog extends Log {
  /** Writes out what is still held. */
  flush(): void
}

const EVERY = 500

/** Opens the log on standard output, or on another file descriptor. */
export function openLog(descriptor = 1): OpenLog {
  const destination = pino.destination({ fd: descriptor, sync: false, minLength: 4096 })
  const log = pino({ base: null }, destination)
  setInterval(() => destination.flush(), EVERY).unref()
  return {
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    flush: () => destination.flushSync(),
  }
}
