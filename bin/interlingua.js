#!/usr/bin/env -S node --max-semi-space-size=16 --no-allocation-site-pretenuring
import module from 'node:module'
import { join } from 'node:path'

// Node before 22.18 runs no TypeScript, and has no compile cache that could be imported by name.
if (!process.features.typescript) {
  console.error(
    `Interlingua needs a Node that runs TypeScript; this is Node ${process.versions.node}, which does not.\n` +
      'Its packages include Node 26: start it with `npm start -- ARGS` or `npx interlingua ARGS` in its folder.',
  )
  process.exit(1)
}

/**
 * Compiled code is kept beside the packages, and types once stripped stay stripped: later starts are quicker and hold
 * less of the source in memory. This file alone is JavaScript, so that nothing has to be stripped before that.
 */
module.enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/interlingua'))

await import('../src/main.ts')
