import type { Bytes } from '../../canonical/bytes.ts'
import type { GatewayError } from '../../canonical/error.ts'
import { type Headers, headerValue } from './headers.ts'

/** Receives the body of an answer in chunks. No call follows `onEnd` or `onError`. */
export interface Consumer {
  onData(bytes: Uint8Array): void
  onEnd(): void
  onError(error: GatewayError): void
}

/** Pausable source of the bytes. */
interface Source {
  pause(): void
  resume(): void
  abort(): void
}

/** Number of bytes that may be buffered before the source is paused. */
const MAX_BUFFERED = 256 * 1024

/**
 * Returns the body of an answer as bytes that can be read only once, while they arrive. If a reader stops early, the
 * exchange is aborted.
 */
export function streamedBytes(source: Source, headers: Headers, pipeTo: (consumer: Consumer) => void): Bytes {
  const size =
    headers['content-encoding'] === undefined
      ? Number(headerValue(headers['content-length']) || Number.NaN)
      : Number.NaN
  return {
    ...(Number.isSafeInteger(size) ? { size } : {}),
    once: true,
    read: () => chunks(source, pipeTo),
  }
}

async function* chunks(source: Source, pipeTo: (consumer: Consumer) => void): AsyncGenerator<Uint8Array> {
  let buffered: Uint8Array[] = []
  let size = 0
  let outcome: GatewayError | 'ended' | undefined
  let wakeReader = (): void => {}
  pipeTo({
    onData: bytes => {
      buffered.push(bytes)
      size += bytes.length
      if (size > MAX_BUFFERED) source.pause()
      wakeReader()
    },
    onEnd: () => {
      outcome = 'ended'
      wakeReader()
    },
    onError: error => {
      outcome = error
      wakeReader()
    },
  })
  try {
    while (buffered.length > 0 || outcome === undefined) {
      if (buffered.length === 0) await new Promise<void>(resolve => (wakeReader = resolve))
      const batch = buffered
      buffered = []
      size = 0
      source.resume()
      yield* batch
    }
    if (outcome !== 'ended') throw outcome
  } finally {
    if (outcome === undefined) source.abort()
  }
}
