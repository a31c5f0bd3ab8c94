import type { Format } from '../canonical/node.ts'
import type { Work } from '../canonical/work.ts'
import { column } from './rows/index.ts'

/** The formats in which callers send requests, and the kinds of work that they request in each. */
export const CALLER_FORMATS: ReadonlyMap<Format, readonly Work[]> = column(({ callers }) => callers)
