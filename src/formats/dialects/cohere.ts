import type { Flags } from './flag.ts'
import { SHARED_FLAGS } from './shared-flags.ts'

/** Dialect flags of upstreams with version 2 of Cohere's API. */
export const FLAGS = {
  batch: SHARED_FLAGS.batch,
} as const satisfies Flags
