import { availableParallelism } from 'node:os'

/** Most worker processes. Each takes about 84 MB and a second to start, so a larger number is a typing error. */
export const MOST_WORKERS = 512

/** Returns the number of worker processes: one per available core for `auto`; 1 by default. */
export const workersOf = (written: 'auto' | number | undefined): number =>
  written === 'auto' ? Math.min(availableParallelism(), MOST_WORKERS) : (written ?? 1)
