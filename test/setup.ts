import fc from 'fast-check'
import { afterAll, inject } from 'vitest'
import { dropUnused, openEngines } from './builders/engines.ts'

/*
 * Runs before every test file. Workers retain their modules between files (`isolate: false`), so that the seed stays.
 */

fc.configureGlobal({ seed: inject('seed') })

await openEngines()
afterAll(dropUnused)
