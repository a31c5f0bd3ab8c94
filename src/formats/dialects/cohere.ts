import type { Flags } from './flag.ts'
import { SHARED } from './shared-flags.ts'

/** Dialect flags of upstreams with version 2 of Cohere's API. */
export const FLAGS = {
  batch: SHARED.batch,
} as const satisfies Flags
