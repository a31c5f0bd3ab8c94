import type { RedisClientType } from '@redis/client'

/** The Redis client with protocol version 2 and without modules. */
export type RedisClient = RedisClientType<Record<string, never>, Record<string, never>, Record<string, never>, 2>

/** Handlers of the events of a connection. */
export interface ConnectionEvents {
  /** Prepares each new connection before its use. */
  prepare(client: RedisClient): Promise<unknown> | undefined
  onOpened(): void
  /** Called when the connection failed or was lost. Reconnection is automatic. The text contains no credential. */
  onLost(fault: string): void
  /** Called when Redis answered a ping. */
  onAnswered(): void
}

/** Timeout for opening a connection, in milliseconds. */
const OPEN_TIMEOUT_MS = 2000
/**
 * Interval between pings, in milliseconds. A connection is dropped if a ping is still unanswered when the next one is
 * due.
 */
const PING_INTERVAL_MS = 1000
/** Delay before the first retry, in milliseconds. It doubles with each failure. */
const FIRST_DELAY_MS = 50
/** Maximum delay before a retry, in milliseconds. */
const MAX_DELAY_MS = 2000

/** A connection to Redis that reconnects after every loss or timeout. */
export class RedisConnection {
  /** The open connection, or undefined while disconnected. */
  client: RedisClient | undefined
  private readonly url: string
  private readonly events: ConnectionEvents
  private closed = false
  private wake: () => void = () => {}
  /** Ends the current connection with a reason. */
  private giveUp: (fault: unknown) => void = () => {}
  private failures = 0
  private readonly reconnecting: Promise<void>

  constructor(url: string, events: ConnectionEvents) {
    this.url = url
    this.events = events
    this.reconnecting = this.reconnect()
  }

  async close(): Promise<void> {
    this.closed = true
    this.wake()
    await this.reconnecting
  }

  /** Replaces the current connection, because its address may lead to another server by now. */
  renew(fault: unknown): void {
    this.giveUp(fault)
  }

  /** Reconnects until the connection is closed. */
  private async reconnect(): Promise<void> {
    while (!this.closed) {
      const fault = await this.live().catch((thrown: unknown) => thrown)
      if (this.closed) return
      this.events.onLost(textOf(fault))
      const pause = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(this.failures++, 10))
      await this.rest(pause * (0.5 + Math.random() / 2))
    }
  }

  /** Opens a connection and waits until it ends. Resolves or rejects with the reason. */
  private async live(): Promise<unknown> {
    const { createClient } = await import('@redis/client')
    // Switch off the library's reconnection, queue and timers, which would hide whether Redis is reachable.
    const client: RedisClient = createClient({
      url: this.url,
      RESP: 2,
      maintNotifications: 'disabled',
      disableClientInfo: true,
      disableOfflineQueue: true,
      commandOptions: { timeout: 0 },
      socket: { reconnectStrategy: false, connectTimeout: OPEN_TIMEOUT_MS },
    })
    const ended = Promise.withResolvers<unknown>()
    client.on('error', ended.resolve)
    client.on('end', () => ended.resolve(new Error('connection closed by Redis')))
    this.wake = () => ended.resolve(new Error('closed'))
    this.giveUp = ended.resolve
    if (this.closed) return undefined
    let timer: NodeJS.Timeout = setTimeout(() => ended.resolve(new Error('Redis does not answer')), OPEN_TIMEOUT_MS)
    try {
      const connecting = client.connect().then(() => this.events.prepare(client))
      connecting.catch(() => {})
      const fault = await Promise.race([connecting.then(() => undefined), ended.promise])
      if (fault !== undefined) return fault
      clearTimeout(timer)
      timer = this.startPings(client, ended.resolve)
      this.client = client
      this.failures = 0
      this.events.onOpened()
      return await ended.promise
    } finally {
      this.client = undefined
      clearInterval(timer)
      destroy(client)
    }
  }

  /** Pings Redis regularly, and gives up on a missing answer. */
  private startPings(client: RedisClient, giveUp: (fault: Error) => void): NodeJS.Timeout {
    let isUnanswered = false
    const timer = setInterval(() => {
      if (isUnanswered) {
        // A busy event loop may not have read the answer yet.
        setImmediate(() => isUnanswered && giveUp(new Error('Redis does not answer')))
        return
      }
      isUnanswered = true
      client.ping().then(() => {
        isUnanswered = false
        this.events.onAnswered()
      }, giveUp)
    }, PING_INTERVAL_MS)
    return timer.unref()
  }

  /** Waits before a retry. `close` ends the wait. */
  private async rest(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, milliseconds).unref()
    this.wake = resolve
    if (!this.closed) await promise
    clearTimeout(timer)
  }
}

/** Describes a fault by these fields only, because others contain the address with its password. */
const textOf = (fault: unknown): string => {
  const { code, message } = (fault ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  return String(code ?? message ?? 'unknown')
}

function destroy(client: RedisClient): void {
  try {
    client.destroy()
  } catch {
    // Already closed.
  }
}
