import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { seedOfRun } from './seed.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Seed of all random values of the run. */
    seed: number
  }
}

/**
 * Sets one seed for all workers of a run, and one folder for its temporary files, which is deleted at the end. A failed
 * run prints the seed.
 */
export default function setup(project: TestProject): () => void {
  // The name is short, because paths of sockets are. PostgreSQL runs as another user, who must reach its own folder.
  const folder = mkdtempSync(join(tmpdir(), 'il-'))
  chmodSync(folder, 0o711)
  process.env['TMPDIR'] = folder
  const seed = seedOfRun(process.env)
  project.provide('seed', seed)
  return () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    if (project.vitest.state.getCountOfFailedTests() > 0)
      project.vitest.logger.log(`\nRandom values were drawn from seed ${seed}: SEED=${seed} draws them again.\n`)
  }
}
