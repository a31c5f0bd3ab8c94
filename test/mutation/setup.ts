import fc from 'fast-check'
import { inject } from 'vitest'

/* Stands in for `test/setup.ts`, which loads the store with its servers: every mutant would load them anew. */

fc.configureGlobal({ seed: inject('seed') })
