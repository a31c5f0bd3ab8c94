/** Detects which of the processes that share a store are alive. */
export interface Liveness {
  /** This process: 32 hex digits. */
  readonly id: string
  /** Marks this process as alive, until it ends or `close`. Rejects where that cannot be noted. */
  open(): Promise<void>
  /** Whether the process of that id is alive; undefined where that cannot be determined. */
  isAlive(id: string): Promise<boolean | undefined>
  close(): Promise<void>
}

/** The form of the ids of processes. */
export const PROCESS_ID = /^[0-9a-f]{32}$/
