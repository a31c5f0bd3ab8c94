import type { TestProject } from 'vitest/node'
import { seedOfRun } from './seed.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Seed of all random values of the run. */
    seed: number
  }
}

/** Sets one seed for all workers of a run. A failed run prints it at its end. */
export default function setup(project: TestProject): () => void {
  const seed = seedOfRun(process.env)
  project.provide('seed', seed)
  return () => {
    if (project.vitest.state.getCountOfFailedTests() > 0)
      project.vitest.logger.log(`\nRandom values were drawn from seed ${seed}: SEED=${seed} draws them again.\n`)
  }
}
