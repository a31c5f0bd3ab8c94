/** Detects which of the processes that share a store are alive. */
export interface Liveness {
  /** Id of this process: 32 hex digits. */
  readonly id: string
  /** Marks this process as alive until it ends or calls `close`. Rejects if the store cannot record the mark. */
  open(): Promise<void>
  /** Returns true if the process with that id is alive, or undefined if that cannot be determined. */
  isAlive(id: string): Promise<boolean | undefined>
  close(): Promise<void>
}

/** Format of process ids. */
export const PROCESS_ID = /^[0-9a-f]{32}$/
