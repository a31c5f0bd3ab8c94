import { availableParallelism } from 'node:os'

/**
 * Maximum number of worker processes. Each takes about 84 MB and a second to start, so a larger number is probably a
 * typo.
 */
export const MAX_WORKERS = 512

/** Returns the number of worker processes: one per available core for `auto`, 1 by default. */
export const workersOf = (written: 'auto' | number | undefined): number =>
  written === 'auto' ? Math.min(availableParallelism(), MAX_WORKERS) : (written ?? 1)
