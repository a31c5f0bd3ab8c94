/** Heartbeats of the processes that share a database server. */
export interface Processes {
  /** Writes the heartbeat of a process. */
  beat(id: string): Promise<void>
  /** Whether the process wrote a heartbeat recently. */
  isAlive(id: string): Promise<boolean>
  /** Deletes the heartbeat of a process that ends. */
  end(id: string): Promise<void>
}
