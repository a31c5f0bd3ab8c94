/** A Lua script, which Redis runs atomically. */
export interface RedisScript {
  readonly source: string
  /** SHA-1 of the source, in hex. */
  readonly sha: string
}

/** A connection to Redis that reconnects automatically. */
export interface RedisLink {
  /** Whether commands can be sent now. */
  readonly isUp: boolean
  /** Number of commands that could not be sent or timed out. */
  readonly faults: number
  /** Runs a script. Rejects immediately while Redis is disconnected, and after a timeout without an answer. */
  run(script: RedisScript, keys: readonly string[], args: readonly string[]): Promise<unknown>
  /** Adds a listener for every new connection: Redis may have lost its data. */
  onConnected(listener: () => void): void
  publish(channel: string, message: string): void
  subscribe(channel: string, listener: (message: string) => void): () => void
  close(): Promise<void>
}
