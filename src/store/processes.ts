/** The processes that share a server, each of which says again and again that it is alive. */
export interface Processes {
  /** Says that the process is alive. */
  beat(id: string): Promise<void>
  /** Whether it said so lately. */
  isAlive(id: string): Promise<boolean>
  /** It ended. */
  end(id: string): Promise<void>
}
