import { availableParallelism } from 'node:os'

/** Each is a process of some 84 MB that takes a second to start: a larger number is a slip of the pen on any machine. */
export const MOST_WORKERS = 512

/** The processes a server has for its config: one for each core the gateway may use, or so many; 1 by default. */
export const workersOf = (written: 'auto' | number | undefined): number =>
  written === 'auto' ? Math.min(availableParallelism(), MOST_WORKERS) : (written ?? 1)
