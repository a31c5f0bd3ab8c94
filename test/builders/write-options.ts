import type { WriteOptions } from '../../src/egress/writer.ts'

/** To an upstream of the caller's own format. */
export const NATIVE: WriteOptions = { dialect: {}, native: true }

/** To an upstream of another format. */
export const FOREIGN: WriteOptions = { dialect: {}, native: false }
