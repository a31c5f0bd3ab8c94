#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

/** Compiled code is kept beside the packages: later starts are quicker and hold less of the source in memory. */
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/interlingua'))

const { commandLine } = await import('./commands/line.ts')
const { TERMINAL } = await import('./commands/outcome.ts')
process.exitCode = await commandLine(process.argv.slice(2), TERMINAL)
