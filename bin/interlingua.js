#!/usr/bin/env -S node --max-semi-space-size=16 --no-allocation-site-pretenuring
// This file is CommonJS because Node reads every export of an imported module, and the exports of `node:http` load a
// second HTTP client.
const { enableCompileCache } = require('node:module')
const { join } = require('node:path')
const { currentBundle } = require('./bundle.js')

// Node before 22.18 cannot run TypeScript. It also has no named export for the compile cache.
if (!process.features.typescript) {
  console.error(
    `Interlingua needs a Node that runs TypeScript; this is Node ${process.versions.node}, which does not.\n` +
      'Its packages include Node 26: start it with `npm start -- ARGS` or `npx interlingua ARGS` in its folder.',
  )
  process.exit(1)
}

/**
 * Keeps compiled code, and sources without their types, next to the packages. Later starts are faster and hold less
 * source text in memory. The files of this folder are JavaScript because they run before the cache is enabled.
 */
enableCompileCache(join(__dirname, '../node_modules/.cache/interlingua'))

const bundle = currentBundle()
if (bundle === undefined) import('../src/main.ts')
else require(bundle)
