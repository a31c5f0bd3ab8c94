import { type ErrorKind, GatewayError } from '../canonical/error.ts'
import { SumsByKey } from './sums-by-key.ts'

/** Maximum size of the incomplete request bodies in memory, in bytes: per key, and in total. */
export interface IncompleteBodyLimits {
  readonly key: number
  readonly all: number
}

/** Number of bytes charged for a body before its first byte arrives, for its connection and buffers. */
const BYTES_PER_BODY = 16 * 1024

/** Limits the memory that incomplete request bodies may use. */
export class IncompleteBodies {
  limits: IncompleteBodyLimits
  private readonly counts = new SumsByKey()

  constructor(limits: IncompleteBodyLimits) {
    this.limits = limits
  }

  /** Number of bytes currently in memory. */
  get bytes(): number {
    return this.counts.total
  }

  /**
   * Starts counting one body of a key. The caller must always close the returned count.
   *
   * @throws GatewayError like `IncompleteBody.take`.
   */
  open(key: string): IncompleteBody {
    const body = new IncompleteBody(this, key)
    try {
      body.take(BYTES_PER_BODY)
    } catch (thrown) {
      body.close()
      throw thrown
    }
    return body
  }

  /**
   * Adds bytes to the counts of a key and in total. A negative number releases bytes.
   *
   * @param bodyBytes total bytes of this body so far.
   */
  count(key: string, bytes: number, bodyBytes: number): void {
    const ofKey = this.counts.add(key, bytes)
    if (bytes <= 0) return
    if (bodyBytes - BYTES_PER_BODY > this.limits.key)
      throw fault('too-large', `The body is larger than ${this.limits.key} bytes.`)
    if (ofKey > this.limits.key) throw fault('overloaded', 'This key has too many incomplete requests.')
    if (this.counts.total > this.limits.all) throw fault('overloaded', 'There are too many incomplete requests.')
  }
}

/** The bytes of one incomplete body. */
export class IncompleteBody {
  private readonly bodies: IncompleteBodies
  private readonly key: string
  private bytes = 0
  private isClosed = false

  constructor(bodies: IncompleteBodies, key: string) {
    this.bodies = bodies
    this.key = key
  }

  /**
   * Counts bytes that arrived.
   *
   * @throws GatewayError `overloaded` if the bodies of the key or of all keys take too much memory, `too-large` if this
   * body is too large.
   */
  take(bytes: number): void {
    if (this.isClosed) return
    this.bytes += bytes
    this.bodies.count(this.key, bytes, this.bytes)
  }

  /** Releases bytes. */
  give(bytes: number): void {
    if (this.isClosed) return
    this.bytes -= bytes
    this.bodies.count(this.key, -bytes, this.bytes)
  }

  /** Releases all bytes of the body. */
  close(): void {
    this.give(this.bytes)
    this.isClosed = true
  }
}

const fault = (kind: ErrorKind, message: string): GatewayError =>
  new GatewayError({ kind, message, ...(kind === 'overloaded' ? { retryAfterSeconds: 1 } : {}) })
