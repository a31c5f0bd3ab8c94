import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/* Tests of one room, as Stryker runs them on each of its mutants. */

const TESTS = JSON.parse(process.env['MUTATION_TESTS'] ?? '[]') as readonly string[]

/** Keeps the room's order, in which quick tests are first: the first failure ends the run of a mutant. */
class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => TESTS.indexOf(relative(process.cwd(), moduleId))
    return files.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

export default defineConfig({
  test: {
    include: [...TESTS],
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/mutation/setup.ts'],
    sequence: { sequencer: InOrder },
    // Many mutants wait forever. Tests of the rooms take far less.
    testTimeout: 10_000,
    hookTimeout: 10_000,
    expect: { poll: { timeout: 5_000 } },
    env: { INTERLINGUA_BUNDLE: 'off' },
    // Stryker starts a worker for each mutant, in which all files of the room share their modules.
    isolate: false,
  },
})
