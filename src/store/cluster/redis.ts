import type { Log } from '../../log.ts'
import { Outage } from '../../outage.ts'
import { type RedisClient, RedisConnection } from './redis-connection.ts'

/** A Lua script, which Redis runs atomically. */
export interface RedisScript {
  readonly source: string
  /** SHA-1 of the source, in hex. */
  readonly sha: string
}

/** A connection to Redis that reconnects automatically. */
export interface RedisLink {
  /** True if commands can be sent now. */
  readonly isUp: boolean
  /** Number of commands that could not be sent or timed out. */
  readonly faults: number
  /** Runs a script. Rejects immediately while Redis is disconnected, and after a timeout without an answer. */
  run(script: RedisScript, keys: readonly string[], args: readonly string[]): Promise<unknown>
  /** Adds a listener that is called for every new connection, because Redis may have lost its data. */
  onConnected(listener: () => void): void
  publish(channel: string, message: string): void
  subscribe(channel: string, listener: (message: string) => void): () => void
  close(): Promise<void>
}

/** Timeout of a command, in milliseconds. */
const COMMAND_TIMEOUT_MS = 250
/** Maximum time that a starting process waits for the first connection, in milliseconds. */
export const FIRST_CONNECTION_TIMEOUT_MS = 1000

/** Returns the path of an address that names another database than the first one. */
function databaseOf(url: string): string {
  const pathname = URL.parse(url)?.pathname ?? ''
  return /^\/0*$/.test(pathname) ? '' : pathname
}

/** Thrown if a command could not be sent or timed out. After a timeout, Redis may still have executed the command. */
class RedisUnreachable extends Error {
  override readonly name = 'RedisUnreachable'
}

type Listener = (message: string) => void

/**
 * Error replies of a server that is no longer the primary, or has lost its replicas. After a failover, connections to
 * the former primary stay open, while the address already leads to its successor.
 */
const FORMER_PRIMARY = /\b(READONLY|MASTERDOWN|NOREPLICAS)\b/

/**
 * Two connections to the Redis at an address such as `redis://user:password@host:6379/0`: one for commands, and one for
 * subscriptions that opens with the first of them. The constructor never throws.
 */
export class OpenRedis implements RedisLink {
  private readonly url: string
  /** Number of the database in the address, as `/1`. Empty for the first database. */
  private readonly database: string
  private readonly outage: Outage
  /** Lost connections, and `primary` if the server accepts no changes. An outage ends when the set is empty. */
  private readonly losses = new Set<'commands' | 'notices' | 'primary'>()
  private readonly commands: RedisConnection
  private notices: RedisConnection | undefined
  private readonly listeners = new Map<string, readonly Listener[]>()
  private readonly connectionListeners: (() => void)[] = []
  private readonly firstConnection = Promise.withResolvers<void>()
  /** True after a command timed out. No command is sent until Redis answers again. */
  private isUnresponsive = false
  faults = 0
  /** Reason why a connection was lost or could not be opened. It contains no credential. */
  lastFault: string | undefined

  constructor(url: string, log: Log) {
    this.url = url
    this.database = databaseOf(url)
    this.outage = new Outage(log, { began: 'Redis cannot be reached', ended: 'Redis can be reached again' })
    this.commands = new RedisConnection(url, {
      prepare: () => undefined,
      onOpened: () => {
        this.markAnswered()
        this.firstConnection.resolve()
        for (const listener of this.connectionListeners) listener()
      },
      onLost: fault => this.markLost('commands', fault),
      onAnswered: () => this.markAnswered(),
    })
  }

  get isUp(): boolean {
    return this.commands.client !== undefined && !this.isUnresponsive
  }

  /** Resolves when the first connection is open, or after the given number of milliseconds. */
  async ready(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, milliseconds)
    await Promise.race([promise, this.firstConnection.promise])
    clearTimeout(timer)
  }

  async run(script: RedisScript, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const client = this.commands.client
    if (client === undefined || this.isUnresponsive) throw this.countFailure('Redis cannot be reached')
    try {
      const answer = await this.evaluate(client, script, [String(keys.length), ...keys, ...args])
      // A script without keys changes nothing, so that a former primary runs it, too.
      if (keys.length > 0) this.markRestored('primary')
      return answer
    } catch (fault) {
      if (FORMER_PRIMARY.test((fault as Error).message)) this.findPrimary(fault as Error)
      throw fault
    }
  }

  private async evaluate(client: RedisClient, script: RedisScript, rest: readonly string[]): Promise<unknown> {
    try {
      return await this.withTimeout(client.sendCommand(['EVALSHA', script.sha, ...rest]))
    } catch (fault) {
      if (!String((fault as Error).message).startsWith('NOSCRIPT')) throw fault
      return this.withTimeout(client.sendCommand(['EVAL', script.source, ...rest]))
    }
  }

  /** Opens both connections again. The outage lasts until a script has run. */
  private findPrimary(fault: Error): void {
    this.markLost('primary', fault.message)
    this.commands.renew(fault)
    this.notices?.renew(fault)
  }

  onConnected(listener: () => void): void {
    this.connectionListeners.push(listener)
  }

  publish(channel: string, message: string): void {
    this.commands.client?.publish(this.nameOf(channel), message).catch(() => {})
  }

  /** Checks that notices may be sent, which a user of Redis may do in named channels only. Rejects with the error. */
  async checkNotices(): Promise<void> {
    await this.commands.client?.publish(this.nameOf('interlingua:probe'), '')
  }

  subscribe(name: string, listener: Listener): () => void {
    const channel = this.nameOf(name)
    const known = this.listeners.get(channel)
    this.listeners.set(channel, [...(known ?? []), listener])
    this.notices ??= this.openNotices()
    // A connection that is still opening subscribes when it is ready.
    if (known === undefined) this.notices.client?.subscribe(channel, this.dispatch).catch(() => {})
    return () => this.unsubscribe(channel, listener)
  }

  async close(): Promise<void> {
    this.firstConnection.resolve()
    await Promise.all([this.commands.close(), this.notices?.close()])
  }

  /** Opens the connection for subscriptions. */
  private openNotices(): RedisConnection {
    return new RedisConnection(this.url, {
      prepare: client => this.subscribeAll(client),
      onOpened: () => this.markRestored('notices'),
      onLost: fault => this.markLost('notices', fault),
      onAnswered: () => {},
    })
  }

  /** Returns the name of a channel in this database. Redis has the same channels in all databases. */
  private nameOf(channel: string): string {
    return channel + this.database
  }

  private markAnswered(): void {
    this.isUnresponsive = false
    this.markRestored('commands')
  }

  private markLost(loss: 'commands' | 'notices' | 'primary', fault: string): void {
    this.losses.add(loss)
    this.lastFault = fault
    this.outage.start(fault)
  }

  private markRestored(loss: 'commands' | 'notices' | 'primary'): void {
    if (this.losses.delete(loss) && this.losses.size === 0) this.outage.end()
  }

  private countFailure(message: string): RedisUnreachable {
    this.faults++
    this.outage.countAffected()
    return new RedisUnreachable(message)
  }

  private unsubscribe(channel: string, listener: Listener): void {
    const remaining = (this.listeners.get(channel) ?? []).filter(one => one !== listener)
    if (remaining.length > 0) {
      this.listeners.set(channel, remaining)
      return
    }
    this.listeners.delete(channel)
    this.notices?.client?.unsubscribe(channel).catch(() => {})
  }

  /** Subscribes a new connection to all channels. */
  private async subscribeAll(client: RedisClient): Promise<void> {
    let subscribedCount = 0
    // Channels may be added while the earlier subscriptions are being sent.
    while (subscribedCount < this.listeners.size) {
      const channels = [...this.listeners.keys()]
      subscribedCount = channels.length
      await client.subscribe(channels, this.dispatch)
    }
  }

  private readonly dispatch = (message: string, channel: string): void => {
    for (const listener of this.listeners.get(channel) ?? []) listener(message)
  }

  /**
   * Adds a timeout to a command. A busy event loop does not count as a timeout, because the answer may already have
   * arrived.
   */
  private withTimeout<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let isSettled = false
      const timer = setTimeout(() => setImmediate(onTimeout), COMMAND_TIMEOUT_MS)
      const onTimeout = (): void => {
        if (isSettled) return
        this.isUnresponsive = true
        this.markLost('commands', 'Redis does not answer')
        reject(this.countFailure('Redis does not answer'))
      }
      const settle = (): void => {
        isSettled = true
        clearTimeout(timer)
      }
      answer.then(
        value => {
          settle()
          resolve(value)
        },
        fault => {
          settle()
          reject(fault)
        },
      )
    })
  }
}
