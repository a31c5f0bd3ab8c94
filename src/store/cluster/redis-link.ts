/** A script that Redis runs in one step (Lua). */
export interface RedisScript {
  readonly source: string
  /** SHA-1 of the source, in hex. */
  readonly sha: string
}

/** A connection to Redis that comes back by itself. */
export interface RedisLink {
  /** Whether commands can be sent now. */
  readonly isUp: boolean
  /** Commands that could not be sent or were not answered in time. */
  readonly faults: number
  /**
   * Runs a script. Rejects where Redis cannot be reached or does not answer in time, without waiting for a
   * connection.
   */
  run(script: RedisScript, keys: readonly string[], args: readonly string[]): Promise<unknown>
  /** Calls the listener whenever there is a new connection: Redis may have lost what it held. */
  onConnected(listener: () => void): void
  publish(channel: string, message: string): void
  subscribe(channel: string, listener: (message: string) => void): () => void
  close(): Promise<void>
}
