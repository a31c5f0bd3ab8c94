import { defineConfig } from 'vitest/config'

/* Tests of one room, as Stryker runs them on each of its mutants. */

export default defineConfig({
  test: {
    include: JSON.parse(process.env['MUTATION_TESTS'] ?? '[]') as string[],
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/mutation/setup.ts'],
    // Many mutants wait forever. Tests of the rooms take far less.
    testTimeout: 10_000,
    hookTimeout: 10_000,
    expect: { poll: { timeout: 5_000 } },
    env: { INTERLINGUA_BUNDLE: 'off' },
    // Stryker starts a worker for each mutant, in which all files of the room share their modules.
    isolate: false,
  },
})
