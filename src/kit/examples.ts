import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Format } from '../canonical/node.ts'
import { ROOT } from '../root.ts'
import type { Kind } from './translate.ts'

/** An example text for the translator. */
export interface Example {
  readonly format: Format
  readonly kind: Kind
  /** The feature that the example shows: `tool-turn`. */
  readonly name: string
  readonly text: string
}

/** File with the examples of every format. `npm run demo` generates it from the fixtures. */
export const EXAMPLES_FILE: string = join(ROOT, 'fixtures/examples.json')

/** Reads the examples of every format, in the order of the readers. */
export const examples = (): readonly Example[] => JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8'))
