#!/usr/bin/env -S node --max-semi-space-size=16
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

/**
 * Compiled code is kept beside the packages, and types once stripped stay stripped: later starts are quicker and hold
 * less of the source in memory. This file alone is JavaScript, so that nothing has to be stripped before that.
 */
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/interlingua'))

await import('../src/main.ts')
