/** The processes that share a server, each of which writes a heartbeat again and again. */
export interface Processes {
  /** Writes the heartbeat of the process. */
  beat(id: string): Promise<void>
  /** Whether it said so lately. */
  isAlive(id: string): Promise<boolean>
  /** It ended. */
  end(id: string): Promise<void>
}
