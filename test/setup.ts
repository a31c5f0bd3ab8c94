import fc from 'fast-check'
import { inject } from 'vitest'

/* Runs before every test file. Workers keep their modules between files (`isolate: false`), so the seed stays. */

fc.configureGlobal({ seed: inject('seed') })
