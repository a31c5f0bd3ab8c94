import type { WriteOptions } from '../../src/egress/writer.ts'

/** Options for an upstream of the caller's own format. */
export const NATIVE: WriteOptions = { dialect: {}, native: true }

/** Options for an upstream of another format. */
export const FOREIGN: WriteOptions = { dialect: {}, native: false }
