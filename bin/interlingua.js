#!/usr/bin/env -S node --max-semi-space-size=16 --no-allocation-site-pretenuring
// CommonJS: of a module that is imported, Node reads every export, and those of `node:http` load a second HTTP client.
const { enableCompileCache } = require('node:module')
const { join } = require('node:path')
const { currentBundle } = require('./bundle.js')

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
 * less of the source in memory. The files of this folder are JavaScript, so that nothing has to be stripped before that.
 */
enableCompileCache(join(__dirname, '../node_modules/.cache/interlingua'))

const bundle = currentBundle()
if (bundle === undefined) import('../src/main.ts')
else require(bundle)
