#!/usr/bin/env node
// This file is CommonJS because Node reads every export of an imported module, and the exports of `node:http` load a
// second HTTP client.
const { enableCompileCache } = require('node:module')
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { currentBundle } = require('./bundle.js')

/** The bundle of the package. A repository has the sources, and a bundle of them. */
const packed = existsSync(join(__dirname, '../src')) ? undefined : join(__dirname, '../lib/server/main.cjs')

// Node before 22.18 runs no TypeScript, and lacks what the bundle needs. It also has no named export for the compile
// cache.
if (!process.features.typescript) {
  console.error(
    `Interlingua needs Node 22.18 or later; this is Node ${process.versions.node}.\n` +
      (packed === undefined
        ? 'Its packages include Node 26: start it with `npm start -- ARGS` or `npx interlingua ARGS` in its folder.'
        : 'To get a newer one for this folder alone: npm install node@26, then `npx interlingua ARGS`.'),
  )
  process.exit(1)
}

// A repository is started by `npm start`, which has the options.
if (packed !== undefined) require('./start-options.js').startWithOptions(__filename)

/**
 * Keeps compiled code, and sources without their types, next to the packages. Later starts are faster and hold less
 * source text in memory. The files of this folder are JavaScript because they run before the cache is enabled. Deno has
 * no such cache.
 */
enableCompileCache?.(join(__dirname, '../node_modules/.cache/interlingua'))

// At most half of the threads resolve names at a time, and those whose servers do not answer take theirs for seconds.
process.env['UV_THREADPOOL_SIZE'] ??= '8'

require('./newer-functions.js')
const bundle = packed ?? currentBundle()
if (bundle === undefined) import('../src/main.ts')
else require(bundle)
