import type { Format } from '../canonical/node.ts'
import type { Work } from '../canonical/work.ts'
import { column } from './rows/index.ts'

/** Formats in which callers send requests, with the kinds of work requested in each. */
export const CALLER_FORMATS: ReadonlyMap<Format, readonly Work[]> = column(({ callers }) => callers)
