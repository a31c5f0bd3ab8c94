import { type ErrorKind, GatewayError } from '../canonical/error.ts'

/** Bytes that may wait for the rest of their bodies: those of one key, and all. */
export interface WaitingLimits {
  readonly key: number
  readonly all: number
}

/** What a body costs that has not begun to come: its connection and the buffers of it. */
const BASE = 16 * 1024

/** Counts bytes of bodies that are not whole yet, so that nobody can fill the memory with beginnings. */
export class Waiting {
  limits: WaitingLimits
  private all = 0
  private readonly byKey = new Map<string, number>()

  constructor(limits: WaitingLimits) {
    this.limits = limits
  }

  /**
   * A count for one body of a key, to be closed whatever becomes of it.
   *
   * @throws GatewayError as `WaitingBody.take` does.
   */
  open(key: string): WaitingBody {
    const body = new WaitingBody(this, key)
    try {
      body.take(BASE)
    } catch (thrown) {
      body.close()
      throw thrown
    }
    return body
  }

  /** Counts bytes that came, or with a negative number such that wait no more; `own` are all of their body's. */
  count(key: string, bytes: number, own: number): void {
    this.all += bytes
    const ofKey = (this.byKey.get(key) ?? 0) + bytes
    if (ofKey === 0) this.byKey.delete(key)
    else this.byKey.set(key, ofKey)
    if (bytes <= 0) return
    if (own - BASE > this.limits.key) throw fault('too-large', `The body is larger than ${this.limits.key} bytes.`)
    if (ofKey > this.limits.key) throw fault('overloaded', 'Too many requests of this key are not whole yet.')
    if (this.all > this.limits.all) throw fault('overloaded', 'Too many requests are not whole yet.')
  }
}

/** The bytes of one body that wait. */
export class WaitingBody {
  private readonly waiting: Waiting
  private readonly key: string
  private bytes = 0
  private closed = false

  constructor(waiting: Waiting, key: string) {
    this.waiting = waiting
    this.key = key
  }

  /** Throws GatewayError `overloaded` where too much waits, `too-large` where this body alone is too much. */
  take(bytes: number): void {
    if (this.closed) return
    this.bytes += bytes
    this.waiting.count(this.key, bytes, this.bytes)
  }

  /** So many wait no more. */
  give(bytes: number): void {
    if (this.closed) return
    this.bytes -= bytes
    this.waiting.count(this.key, -bytes, this.bytes)
  }

  /** None of it waits any more. */
  close(): void {
    this.give(this.bytes)
    this.closed = true
  }
}

const fault = (kind: ErrorKind, message: string): GatewayError =>
  new GatewayError({ kind, message, ...(kind === 'overloaded' ? { retryAfterSeconds: 1 } : {}) })
