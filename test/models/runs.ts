import { RUNS, USUAL_RUNS } from '../laws/runs.ts'

/**
 * Number of runs of a model-based test: `everyday` on a usual run, more in proportion to `RUNS`. `RUNS=20000 npx vitest
 * run test/models` searches deeper.
 */
export const runsOf = (everyday: number): number => Math.max(1, Math.round((everyday * RUNS) / USUAL_RUNS))
