import type { Format } from '../canonical/node.ts'

/** The format whose answers are stored, retrieved and continued. */
export const STORED_FORMAT: Format = 'responses'
