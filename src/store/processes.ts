/** Heartbeats of the processes that share a database server. */
export interface Processes {
  /** Writes the heartbeat of a process. */
  beat(id: string): Promise<void>
  /** Whether the process wrote a heartbeat recently. */
  isAlive(id: string): Promise<boolean>
  /** Deletes the heartbeat of a process that ends, and those that are older than a day. */
  end(id: string): Promise<void>
}
