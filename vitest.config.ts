import { defineConfig } from 'vitest/config'
import { SlowFirst } from './test/slow-first.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/setup.ts'],
    // A busy machine is slow: these end what hangs, and say nothing of how long anything may take.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 30_000 } },
    // More than cores, because many tests wait for browsers, servers and other processes.
    maxWorkers: 3,
    isolate: false,
    sequence: { sequencer: SlowFirst },
  },
})
