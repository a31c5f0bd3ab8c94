import { type ErrorKind, GatewayError } from '../canonical/error.ts'

/** Bytes of incomplete bodies that may be held: those of one key, and all. */
export interface IncompleteBodyLimits {
  readonly key: number
  readonly all: number
}

/** Bytes counted for a body that has not begun to arrive: its connection and its buffers. */
const BASE = 16 * 1024

/** Counts bytes of incomplete bodies, so that callers cannot fill the memory with them. */
export class IncompleteBodies {
  limits: IncompleteBodyLimits
  private all = 0
  private readonly byKey = new Map<string, number>()

  constructor(limits: IncompleteBodyLimits) {
    this.limits = limits
  }

  /** All bytes that are held now. */
  get bytes(): number {
    return this.all
  }

  /**
   * A count for one body of a key; it must be closed in any case.
   *
   * @throws GatewayError as `IncompleteBody.take` does.
   */
  open(key: string): IncompleteBody {
    const body = new IncompleteBody(this, key)
    try {
      body.take(BASE)
    } catch (thrown) {
      body.close()
      throw thrown
    }
    return body
  }

  /** Counts bytes that arrived, or with a negative number bytes released; `own` are all bytes of that body. */
  count(key: string, bytes: number, own: number): void {
    this.all += bytes
    const ofKey = (this.byKey.get(key) ?? 0) + bytes
    if (ofKey === 0) this.byKey.delete(key)
    else this.byKey.set(key, ofKey)
    if (bytes <= 0) return
    if (own - BASE > this.limits.key) throw fault('too-large', `The body is larger than ${this.limits.key} bytes.`)
    if (ofKey > this.limits.key) throw fault('overloaded', 'Too many requests of this key are incomplete.')
    if (this.all > this.limits.all) throw fault('overloaded', 'Too many requests are incomplete.')
  }
}

/** The held bytes of one incomplete body. */
export class IncompleteBody {
  private readonly waiting: IncompleteBodies
  private readonly key: string
  private bytes = 0
  private closed = false

  constructor(waiting: IncompleteBodies, key: string) {
    this.waiting = waiting
    this.key = key
  }

  /** Throws GatewayError `overloaded` where too much is held, `too-large` where this body alone is too large. */
  take(bytes: number): void {
    if (this.closed) return
    this.bytes += bytes
    this.waiting.count(this.key, bytes, this.bytes)
  }

  /** Releases so many bytes. */
  give(bytes: number): void {
    if (this.closed) return
    this.bytes -= bytes
    this.waiting.count(this.key, -bytes, this.bytes)
  }

  /** Releases all bytes. */
  close(): void {
    this.give(this.bytes)
    this.closed = true
  }
}

const fault = (kind: ErrorKind, message: string): GatewayError =>
  new GatewayError({ kind, message, ...(kind === 'overloaded' ? { retryAfterSeconds: 1 } : {}) })
