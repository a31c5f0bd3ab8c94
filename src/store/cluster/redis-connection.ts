import type { RedisClientType } from '@redis/client'

export type RedisClient = RedisClientType<Record<string, never>, Record<string, never>, Record<string, never>, 2>

export interface ConnectionEvents {
  /** Prepares each new connection before it is used. */
  prepare(client: RedisClient): Promise<unknown> | undefined
  opened(): void
  /** It was lost, or could not be made; another is made by itself. The text holds no credential. */
  lost(fault: string): void
  /** The server answers. */
  answered(): void
}

/** Milliseconds until the server must have accepted a connection. */
const OPENING = 2000
/** Milliseconds between two pings; a connection on which one is unanswered at the next is given up. */
const EVERY = 1000
/** Milliseconds before the first further attempt, and at most before any. */
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 2000

/** One connection to Redis that is made anew, for ever, whenever it is lost or silent. */
export class RedisConnection {
  /** Absent while there is none. */
  client: RedisClient | undefined
  private readonly url: string
  private readonly events: ConnectionEvents
  private closed = false
  private wake: () => void = () => {}
  private failures = 0
  private readonly keeping: Promise<void>

  constructor(url: string, events: ConnectionEvents) {
    this.url = url
    this.events = events
    this.keeping = this.keep()
  }

  async close(): Promise<void> {
    this.closed = true
    this.wake()
    await this.keeping
  }

  private async keep(): Promise<void> {
    while (!this.closed) {
      const fault = await this.live().catch((thrown: unknown) => thrown)
      if (this.closed) return
      this.events.lost(textOf(fault))
      const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(this.failures++, 10))
      await this.rest(pause * (0.5 + Math.random() / 2))
    }
  }

  /** Makes a connection and holds it until it ends. Resolves or rejects with the reason. */
  private async live(): Promise<unknown> {
    const { createClient } = await import('@redis/client')
    // The library's own second connection, queue and timers would hide whether the server is there.
    const client: RedisClient = createClient({
      url: this.url,
      RESP: 2,
      maintNotifications: 'disabled',
      disableClientInfo: true,
      disableOfflineQueue: true,
      commandOptions: { timeout: 0 },
      socket: { reconnectStrategy: false, connectTimeout: OPENING },
    })
    const ended = Promise.withResolvers<unknown>()
    client.on('error', ended.resolve)
    client.on('end', () => ended.resolve(new Error('it closed the connection')))
    this.wake = () => ended.resolve(new Error('closed'))
    if (this.closed) return undefined
    let timer: NodeJS.Timeout = setTimeout(() => ended.resolve(new Error('it does not answer')), OPENING)
    try {
      const opening = client.connect().then(() => this.events.prepare(client))
      opening.catch(() => {})
      const fault = await Promise.race([opening.then(() => undefined), ended.promise])
      if (fault !== undefined) return fault
      clearTimeout(timer)
      timer = this.pinging(client, ended.resolve)
      this.client = client
      this.failures = 0
      this.events.opened()
      return await ended.promise
    } finally {
      this.client = undefined
      clearInterval(timer)
      destroy(client)
    }
  }

  private pinging(client: RedisClient, giveUp: (fault: Error) => void): NodeJS.Timeout {
    let awaited = false
    const timer = setInterval(() => {
      if (awaited) giveUp(new Error('it does not answer'))
      awaited = true
      client.ping().then(() => {
        awaited = false
        this.events.answered()
      }, giveUp)
    }, EVERY)
    return timer.unref()
  }

  private async rest(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, milliseconds).unref()
    this.wake = resolve
    if (!this.closed) await promise
    clearTimeout(timer)
  }
}

/** Errors of addresses carry the address, with its password, in other fields than these. */
const textOf = (fault: unknown): string => {
  const { code, message } = (fault ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  return String(code ?? message ?? 'unknown')
}

function destroy(client: RedisClient): void {
  try {
    client.destroy()
  } catch {
    // It is closed already.
  }
}
